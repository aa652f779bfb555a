/*
 * tracee.h - one thread of another process, held for a moment to run calls of ours on it
 *
 * Only this thread stops; every other goes on.  While it is held all its signals but those of a
 * fault are blocked: what arrives waits, and is delivered when it goes on, in the call that it
 * was in.  No handler of its own runs in between, whose return would end a sleep (it forgets how
 * an interrupted sleep goes on).  Registers, vector state, signal mask and errno are put back.
 */
#ifndef ATTACH_TRACEE_H
#define ATTACH_TRACEE_H

#include "base/err.h"
#include "sampler/attach/stop_wait.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

enum { TRACEE_XSTATE_BYTES = 16384 };

struct tracee {
	pid_t pid;
	pid_t tid;
	bool stopped; /* and what follows is what it was when it was stopped */
	bool gone;    /* it has ended: nothing is left to put back */
	struct user_regs_struct regs;
	uint64_t mask;
	size_t xstate_bytes;
	uint64_t enter; /* an instruction that enters the kernel */
	uint64_t stopped_ns;
	struct stop_wait stop_wait; /* whether its stops are looked for, or slept for */
	unsigned char xstate[TRACEE_XSTATE_BYTES];
};

/**
 * tracee_seize - become a thread's tracer; it goes on running
 * @enter: where an instruction that enters the kernel stands in its code
 *
 * Return:  0; -ESRCH; -EPERM: not allowed, or traced by another.
 * Context: any thread; all later calls from the same one.
 */
int tracee_seize(struct tracee *tracee, pid_t pid, pid_t tid, uint64_t enter);

/**
 * tracee_stop - stop it, and note what it was doing
 *
 * Signals that come first are delivered.
 *
 * Return:  0; -ESRCH: it has ended; -EAGAIN: it is being stopped by a signal; -ETIMEDOUT: it
 *          did not stop.
 * Context: any thread, the tracer.
 */
int tracee_stop(struct tracee *tracee);

/**
 * tracee_block_signals - block its signals, for calls to follow
 *
 * Return:  0; -ESRCH and others: nothing has changed.
 * Context: any thread, the tracer.
 */
int tracee_block_signals(struct tracee *tracee);

/**
 * tracee_syscall - make a system call on it
 * @args: six
 *
 * Return:  0 and the kernel's answer; -ESRCH: it has ended.
 * Context: any thread, the tracer; after tracee_block_signals().
 */
int tracee_syscall(struct tracee *tracee, long nr, const uint64_t *args, long *ret_answer);

/**
 * tracee_continue - let it run code of ours
 * @begin: with these registers; NULL: where it stands
 *
 * Return:  0; -ESRCH: it has ended.
 * Context: any thread, the tracer; after tracee_block_signals().
 */
int tracee_continue(struct tracee *tracee, struct user_regs_struct *begin);

/**
 * tracee_wait_fault - wait until code of ours faults
 * @ret_signal: of the fault
 *
 * Return:  0 and its registers; -ESRCH: it has ended; -ETIMEDOUT: it waits for what does not
 *          come, and was taken back.
 * Context: any thread, the tracer; after tracee_continue().
 */
int tracee_wait_fault(struct tracee *tracee, struct user_regs_struct *ret_regs, int *ret_signal);

/**
 * tracee_detach - put everything back and let it go on, untraced
 *
 * A call that the stop has ended early, and that the kernel would not take up again (epoll_wait
 * and the like), begins again with its arguments, unless a signal waits to end it.
 *
 * Context: any thread, the tracer; at any time after tracee_seize().
 */
void tracee_detach(struct tracee *tracee);

#endif
