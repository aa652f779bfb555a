/*
 * stop.h - one thread of another process, held for as long as it takes to read its registers
 *
 * PTRACE_SEIZE and PTRACE_INTERRUPT of that one thread; the others run on.  Whatever becomes of us,
 * it runs on too: a tracer that ends lets go of what it has seized.
 */
#ifndef EXTERNAL_STOP_H
#define EXTERNAL_STOP_H

#include "sampler/unwind/unwind.h"

#include <stdbool.h>
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

#endif
