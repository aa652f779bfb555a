/*
 * live.h - the table of sampled memory that has not been freed, with a filter for the other
 * pointers
 *
 * Context: handler (any thread), unless a function says otherwise.
 */
#ifndef HOOKS_LIVE_H
#define HOOKS_LIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	LIVE_FILTER_BITS = 17, /* log2 of the filter's counters, a byte each: 128 KiB */
	LIVE_MAX = 32768,      /* pointers; a power of two */
	LIVE_PROBES = 32,      /* entries in which a pointer may be */
};

struct live {
	uint64_t bytes;  /* bytes requested */
	uint64_t amount; /* bytes that its sample represents */
};

/* Number of sampled pointers for each hash: nearly every free() reads 0 here. */
extern _Atomic uint8_t live_filter[1 << LIVE_FILTER_BITS];

/**
 * live_hash - index of a pointer's counter in the filter
 *
 * Adjacent addresses have adjacent counters: a program that uses its memory in order has the filter
 * in its cache.
 *
 * Context: handler.
 */
static inline uint32_t live_hash(const void *memory)
{
	uint64_t n = (uint64_t)memory >> 4;

	return (uint32_t)(n ^ n >> LIVE_FILTER_BITS) & ((1U << LIVE_FILTER_BITS) - 1);
}

/**
 * live_maybe - whether a pointer may be a sampled one
 *
 * Return:  false: it is not.
 */
static inline bool live_maybe(const void *memory)
{
	return atomic_load_explicit(&live_filter[live_hash(memory)], memory_order_relaxed) != 0;
}

/**
 * live_start - empty the table in children after fork: the parent reports the releases
 *
 * Context: agent.  The constructor.
 */
void live_start(void);

/** live_mark - make live_maybe() true for a pointer from now on */
void live_mark(const void *memory);

/**
 * live_add - add a pointer that the program does not have yet
 *
 * Return:  false: the table is full.
 * Context: handler.  Any thread, without a lock.
 */
bool live_add(const void *memory, const struct live *live);

/**
 * live_remove - remove a pointer that the allocator does not have back yet
 *
 * Return:  false: it is not there.
 * Context: handler.  Any thread, without a lock.
 */
bool live_remove(const void *memory, struct live *ret_live);

/**
 * live_shift - how much rarer samples should be, so that a growing heap fits into the table
 *
 * 0 up to half of the table, then one more with every 32nd part: three quarters hold half a million
 * times the bytes between two samples, while a full table would lose pointers.
 */
uint16_t live_shift(void);

/**
 * live_bytes - the bytes requested for a pointer
 *
 * Return:  0: it is not there.
 */
uint64_t live_bytes(const void *memory);

#endif
