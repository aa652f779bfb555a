/*
 * attach_check.h - whether wick can attach to a process, why not, and by which signal to sample it
 *
 * Context: any thread.
 */
#ifndef ATTACH_ATTACH_CHECK_H
#define ATTACH_ATTACH_CHECK_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* From the process's status file. */
struct attach_target {
	pid_t pid;
	pid_t namespace_pid; /* in its own pid namespace */
	uint64_t caught;     /* signals with a handler, bit N - 1; and ignored ones */
	uint64_t ignored;
};

/**
 * attach_check - check a process before anything is done to it
 *
 * Return:  0; -ESRCH: it does not exist, or has ended; -EPERM: it may not be traced, or is a kernel
 *          thread; -EBUSY: it is already traced; -EAGAIN: it is stopped; -ENOEXEC: it cannot take
 *          the agent (the external sampler can sample it). The reason is in ERR.
 */
int attach_check(pid_t pid, struct attach_target *ret_target, struct err *err);

/**
 * attach_refuse_traced - report which process traces PID: there can be one tracer only
 *
 * Return:  -EBUSY.
 */
int attach_refuse_traced(pid_t pid, pid_t by, struct err *err);

/**
 * attach_signal_choose - choose a signal that the process does not use itself
 * @asked: the signal that the user requested; 0: SIGURG, or the first free one of a few others
 * @agents: the sampling signal of an agent that is already loaded; 0: there is none
 * @ret_why: why it is not SIGURG, in words; "": it is, or was requested
 *
 * A process uses a signal when it handles or ignores it, waits for it (sigwait, signalfd), or has
 * blocked it in every thread.
 *
 * Return:  0; -EBUSY: the signal that was requested, or every one, is in use. The reason is in ERR.
 */
int attach_signal_choose(const struct attach_target *target, int asked, int agents, int *ret_signal,
			 struct err *ret_why, struct err *err);

/** attach_signal_fits - whether a signal may be used for sampling at all */
bool attach_signal_fits(int signal);

/** attach_signal_is_harmless - whether a signal is ignored by default */
bool attach_signal_is_harmless(int signal);

#endif
