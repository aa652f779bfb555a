/* held.h - the stack of a thread that runs: it is held while its stack is copied, walked after */
#ifndef OUTSIDE_HELD_H
#define OUTSIDE_HELD_H

#include "sampler/collector/remote.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What was found. */
struct held {
	struct unwind_result result;
	uint64_t sp;
	bool in_call;        /* as in struct stop */
	uint64_t stopped_ns; /* from being asked to stop until it ran on */
};

/**
 * held_walk - hold a thread, copy its stack, let it go, walk the copy
 * @remote: of its process
 * @pcs:    room for MAX, at least one
 *
 * 32-bit code gives its pc alone.
 *
 * Return:  0 and at least one pc; errors of stop_begin().
 * Context: any thread; always the same for one remote.
 */
int held_walk(struct remote *remote, pid_t tid, uint64_t *pcs, size_t max, struct held *ret_held);

#endif
