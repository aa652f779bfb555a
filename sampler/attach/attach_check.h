/* attach_check.h - whether wick can attach to a process, and why not */
#ifndef ATTACH_ATTACH_CHECK_H
#define ATTACH_ATTACH_CHECK_H

#include "base/err.h"

#include <stdint.h>
#include <sys/types.h>

/* From the process's status file. */
struct attach_target {
	pid_t pid;
	pid_t inner_pid; /* in its own pid namespace */
	uint64_t caught; /* signals with a handler, bit N - 1; and ignored ones */
	uint64_t ignored;
};

/**
 * attach_check - check a process before anything is done to it
 *
 * Return:  0; -ESRCH: it does not exist, or has ended; -EPERM: it may not be traced, or is a kernel
 *          thread; -EBUSY: it is already traced; -EAGAIN: it is stopped; -ENOEXEC: it cannot take
 *          the agent (the external sampler can sample it). The reason is in ERR.
 * Context: any thread.
 */
int attach_check(pid_t pid, struct attach_target *ret_target, struct err *err);

/**
 * attach_refuse_traced - report which process traces PID: there can be one tracer only
 *
 * Return:  -EBUSY.
 * Context: any thread.
 */
int attach_refuse_traced(pid_t pid, pid_t by, struct err *err);

#endif
