/* hook_table.h - the interface between the hooks object and the agent, both inside the target */
#ifndef HOOKS_HOOK_TABLE_H
#define HOOKS_HOOK_TABLE_H

#include "sampler/wire/record.h"

#include <stdatomic.h>
#include <stdint.h>

/*
 * The call's stack was walked by CFI to the start of its thread, and contains no signal handler. If
 * a handler interrupted malloc() its thread is inside the allocator; this one is not.
 */
enum { HOOK_PLAIN = 4 };

/* A wait for a lock that has ended. */
struct hook_wait {
	uint64_t lock; /* its address */
	uint64_t ns;
	enum lock_kind kind;
	uint32_t waker_tid; /* the thread that released it; 0: unknown */
	const uint64_t *waker_pcs;
	uint32_t n_waker;
	const void *caller; /* as for event() */
};

/*
 * Hooks of malloc and locks are in a second object, which is preloaded after the agent for -e alloc
 * and -e lock only. It finds the agent's table by one weak function; without the agent it passes
 * every call through.
 *
 * The numbers are final once WATCH is not 0, which is when this image is first sampled. They are
 * kept in children after fork, whether or not those are sampled: event() checks that.
 */
struct hook_table {
	_Atomic uint32_t watch; /* enum ring_hooks; 0: nothing yet, or never */
	uint32_t settled;       /* 1: the agent has started, or will not: WATCH is final */
	uint64_t alloc_bytes;   /* mean bytes between two samples */
	uint64_t lock_ns;

	/*
	 * Writes an event with the stack of the call. CALLER is the return address of the hook,
	 * __builtin_return_address(0) there: inner frames are wick's and are left out. Allocates
	 * nothing, takes no lock, keeps errno. Return: 0: lost; 1: written; 2: written, and the
	 * ring is over half full: report less; 3: nearly full: report much less; HOOK_PLAIN may be
	 * added.
	 */
	int (*event)(enum hook_kind kind, uint64_t amount, uint64_t object, uint64_t extra,
		     const void *caller);
	/* Reports the allocator's bytes, the free ones, and the time the reading took. */
	void (*arenas)(uint64_t bytes, uint64_t free_bytes, uint64_t took_ns);
	/* Counts sampled memory whose release cannot be reported. */
	void (*live_full)(void);

	/* CLOCK_MONOTONIC, without a system call if possible. */
	uint64_t (*now_ns)(void);
	/* As event(), for a wait. */
	int (*wait)(const struct hook_wait *wait);
	/* The stack of a call that releases a lock. Return: number of pcs; 0: unknown. */
	uint32_t (*stack)(const void *caller, uint64_t *ret_pcs, uint32_t max, uint32_t *ret_tid);
};

#define HOOK_TABLE_FUNCTION "wick_agent_hooks"

#endif
