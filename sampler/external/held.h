/* held.h - the stack of a thread that runs: it is held while its stack is copied, walked after */
#ifndef EXTERNAL_HELD_H
#define EXTERNAL_HELD_H

#include "sampler/procfs/task.h"
#include "sampler/remote/remote.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What was found. */
struct held {
	struct unwind_result result;
	uint64_t sp;
	bool in_call;        /* as in struct stop */
	uint64_t stopped_ns; /* for how long it did not run */
	uint64_t at_ns;      /* a moment in this time, */
	struct schedstat at; /* and what the scheduler said of it then; 0: not asked for */
};

/**
 * held_walk - hold a thread, copy its stack, let it go, walk the copy
 * @remote: of its process
 * @pcs:    room for MAX, at least one
 * @schedstat_fd: its schedstat, to be read meanwhile, when all of it is written down; -1: not
 *
 * 32-bit code gives its pc alone.
 *
 * Return:  0 and at least one pc; errors of stop_begin().
 * Context: any thread; always the same for one remote.
 */
int held_walk(struct remote *remote, pid_t tid, uint64_t *pcs, size_t max, int schedstat_fd,
	      struct held *ret_held);

#endif
