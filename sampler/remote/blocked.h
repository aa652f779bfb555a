/*
 * blocked.h - the stack of a thread that is blocked, from outside and without a signal
 *
 * /proc/PID/task/TID/syscall gives its pc and sp, process_vm_readv its stack.  The other
 * registers are not known: where a frame cannot be left without one of them it is recovered
 * from the stack and the code, or the walk stops.
 *
 * Only a thread that has not run meanwhile has the stack that was read: the caller compares its
 * schedstat from before blocked_read() with that from after blocked_walk().
 */
#ifndef REMOTE_BLOCKED_H
#define REMOTE_BLOCKED_H

#include "sampler/remote/remote.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct blocked_at {
	bool in_syscall; /* false: it waits for something else, e.g. a page: nr, args are 0 */
	long nr;
	uint64_t args[6];
	uint64_t sp;
	uint64_t pc;
};

/**
 * blocked_read - where a thread is blocked
 * @syscall_fd: its /proc/PID/task/TID/syscall, open for reading
 *
 * Return:  0; -EBUSY: it runs, or waits for a CPU; -ESRCH: it is gone; -EPERM; -EBADMSG: the
 *          file says something else; -errno of pread.
 * Context: collector thread.
 */
int blocked_read(int syscall_fd, struct blocked_at *ret_at);

/**
 * blocked_walk - its stack, innermost first
 * @pcs: room for MAX; the first carries UNWIND_EXACT, as unwind_walk() gives it
 *
 * The walk ends with UNWIND_BAD_CFA where a register is needed that is not certain.
 *
 * Return:  0 and at least one pc; -ESRCH; -EPERM; -EFAULT: sp is no stack.
 * Context: collector thread.
 */
int blocked_walk(struct remote *remote, const struct blocked_at *at, uint64_t *pcs, size_t max,
		 struct unwind_result *ret_result);

#endif
