/* held.h - the stack of a thread that runs: it is held while its stack is copied, walked after */
#ifndef EXTERNAL_HELD_H
#define EXTERNAL_HELD_H

#include "sampler/procfs/task.h"
#include "sampler/remote/remote.h"
#include "sampler/unwind/unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct stop {
	pid_t pid;
	pid_t tid;
	int signal;   /* that it was about to be given, and is given by stop_end(); 0: none */
	bool narrow;  /* it runs 32-bit code: its stack is made of other words than ours */
	bool in_call; /* it was at the end of a system call */
	struct unwind_regs regs;
	uint64_t since_ns; /* when it stopped, as far as that can be told */
};

/**
 * stop_begin - hold a thread of a process
 *
 * Meant for a thread that runs.  One that has just gone into a system call is brought out of it:
 * the call is gone into again, also where the kernel would have it fail with EINTR.
 *
 * Return:  0, to be followed by stop_end(); -ESRCH: it is gone, or no thread of PID; -EPERM: it is
 *          being traced, or we may not; -EINPROGRESS: it has not stopped in time, and
 *          seized_sweep() lets it go when it has, or another has not yet; -errno of ptrace.
 * Context: any thread; what follows is the same thread's.
 */
int stop_begin(pid_t pid, pid_t tid, struct stop *ret_stop);

/**
 * stop_end - let it run on
 *
 * Return:  ns that it was held.
 * Context: any thread, that of stop_begin().
 */
uint64_t stop_end(struct stop *stop);

/* What was found. */
struct held {
	struct unwind_result result;
	uint64_t sp;
	bool in_call;        /* as in struct stop */
	uint64_t stopped_ns; /* for how long it did not run */
	uint64_t at_ns;      /* a moment in this time, */
	struct schedstat at; /* and what the scheduler said of it then; 0: not requested */
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
