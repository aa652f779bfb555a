/* live.h - the sampled memory that has not been given back: few pointers, found fast among many */
#ifndef HOOKS_LIVE_H
#define HOOKS_LIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	LIVE_FILTER_BITS = 17, /* log2 of the filter's counters, a byte each: 128 KiB */
	LIVE_MAX = 32768,      /* pointers; a power of two */
	LIVE_PROBES = 32,      /* places where a pointer may stand */
};

struct live {
	uint64_t bytes;  /* that were asked for */
	uint64_t amount; /* that its sample stood for */
};

/* How many sampled pointers hash to a place: nearly every free() finds 0 there and goes on. */
extern _Atomic uint8_t live_filter[1 << LIVE_FILTER_BITS];

/**
 * live_hash - where a pointer's counter stands in the filter
 *
 * Neighbours in memory are neighbours there: a program that uses its memory in order finds the
 * filter in its cache.
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
 * Context: handler.  Any thread.
 */
static inline bool live_maybe(const void *memory)
{
	return atomic_load_explicit(&live_filter[live_hash(memory)], memory_order_relaxed) != 0;
}

/**
 * live_start - have a fork child begin with an empty table: its parent tells of the releases
 *
 * Context: agent.  The constructor.
 */
void live_start(void);

/**
 * live_mark - have live_maybe() be true for a pointer from now on
 *
 * Context: handler.  Any thread.
 */
void live_mark(const void *memory);

/**
 * live_add - remember a pointer that the program does not have yet
 *
 * Return:  false: there is no room.
 * Context: handler.  Any thread, without a lock.
 */
bool live_add(const void *memory, const struct live *live);

/**
 * live_remove - forget a pointer that the allocator does not have back yet
 *
 * Return:  false: it is not there.
 * Context: handler.  Any thread, without a lock.
 */
bool live_remove(const void *memory, struct live *ret_live);

/**
 * live_shift - how much rarer samples should be, for the table to hold a heap that grows
 *
 * 0 while it is half empty, then one more with every 32nd part: three quarters have room for half a
 * million times the bytes between two samples, where a full one would lose track.
 *
 * Context: handler.  Any thread.
 */
uint16_t live_shift(void);

/**
 * live_bytes - what was asked for at a pointer
 *
 * Return:  0: it is not there.
 * Context: handler.  Any thread.
 */
uint64_t live_bytes(const void *memory);

#endif
