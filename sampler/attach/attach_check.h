/* attach_check.h - whether a process can be attached, and why not */
#ifndef ATTACH_ATTACH_CHECK_H
#define ATTACH_ATTACH_CHECK_H

#include "base/err.h"

#include <stdint.h>
#include <sys/types.h>

/* What its status file says. */
struct attach_target {
	pid_t pid;
	pid_t inner_pid; /* in its own pid namespace */
	uint64_t caught; /* signals, bit N - 1: it has a handler, or ignores them */
	uint64_t ignored;
};

/**
 * attach_check - look at a process before anything is done to it
 *
 * Return:  0; -ESRCH: there is none, or it has ended; -EPERM: not ours to trace, or a kernel's
 *          thread; -EBUSY: another traces it; -EAGAIN: it is stopped; -ENOEXEC: it takes no agent
 *          (the outside engine can sample it).  The reason is in ERR.
 * Context: any thread.
 */
int attach_check(pid_t pid, struct attach_target *ret_target, struct err *err);

/**
 * attach_refuse_traced - say who traces a process: there is one tracer at a time
 *
 * Return:  -EBUSY.
 * Context: any thread.
 */
int attach_refuse_traced(pid_t pid, pid_t by, struct err *err);

#endif
