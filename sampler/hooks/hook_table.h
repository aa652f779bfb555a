/* hook_table.h - what the hooks object and the agent, both inside the target, share */
#ifndef HOOKS_HOOK_TABLE_H
#define HOOKS_HOOK_TABLE_H

#include "sampler/wire/record.h"

#include <stdatomic.h>
#include <stdint.h>

/*
 * The call's stack was walked by CFI to where its thread begins, and no signal handler is in it.  A
 * thread whose handler interrupted malloc() is inside it; this one is not.
 */
enum { HOOK_PLAIN = 4 };

/* A wait for a lock that is over. */
struct hook_wait {
	uint64_t lock; /* its address */
	uint64_t ns;
	enum lock_kind kind;
	uint32_t waker_tid; /* who let go; 0: not known */
	const uint64_t *waker_pcs;
	uint32_t n_waker;
	const void *caller; /* as for event() */
};

/*
 * Hooks of malloc and of locks stand in a second object, preloaded behind the agent for -e alloc
 * and -e lock only.  It finds the agent's table by one weak function; without it, it passes
 * every call through.
 *
 * The numbers are final once WATCH is not 0, which is when this image is first sampled.  They
 * stand in fork children too, whether or not those are sampled: event() decides.
 */
struct hook_table {
	_Atomic uint32_t watch; /* enum ring_hooks; 0: nothing yet, or never */
	uint32_t settled;       /* 1: the agent has started, or will not: WATCH is final */
	uint64_t alloc_bytes;   /* mean bytes between two samples */
	uint64_t lock_ns;

	/*
	 * Writes an event with the stack of the call.  CALLER is the return address of the hook,
	 * __builtin_return_address(0) there: frames in front of it are ours and are left out.
	 * Makes no allocation and takes no lock; errno stays.  Return: 0: it is lost; 1: written;
	 * 2: written, and the ring is over half full: tell less; 3: and nearly full: much less;
	 * and HOOK_PLAIN beside these.
	 */
	int (*event)(enum hook_kind kind, uint64_t amount, uint64_t object, uint64_t extra,
		     const void *caller);
	/* What the allocator has, of it free, and how long it took to find that out. */
	void (*arenas)(uint64_t bytes, uint64_t free_bytes, uint64_t took_ns);
	/* Counts sampled memory whose release cannot be report. */
	void (*live_full)(void);

	/* CLOCK_MONOTONIC, without a system call where that can be. */
	uint64_t (*now_ns)(void);
	/* event() for a wait. */
	int (*wait)(const struct hook_wait *wait);
	/* The stack of a call that lets go of a lock.  Return: how many pcs; 0: not to be had. */
	uint32_t (*stack)(const void *caller, uint64_t *ret_pcs, uint32_t max, uint32_t *ret_tid);
};

#define HOOK_TABLE_FUNCTION "wick_agent_hooks"

#endif
