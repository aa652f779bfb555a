/*
 * tracee.h - stops one thread of another process by ptrace, and runs system calls and code on it
 *
 * Only this thread stops; the others run. While it is held, all its signals except faults are
 * blocked: they are delivered when it continues, in the system call that it was in. No handler of
 * the program runs in between: its return would end a sleep, because it discards the restart state
 * of the interrupted sleep. Registers, vector state, signal mask and errno are restored.
 *
 * Context: any thread, unless a function says otherwise.
 */
#ifndef ATTACH_TRACEE_H
#define ATTACH_TRACEE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

/*
 * Polls for a short time until another thread stops, as long as it has a processor of its own. A
 * thread on another processor stops within microseconds; sleeping meanwhile costs tens of them. A
 * thread on the same processor cannot run until the caller sleeps, so polling ends then.
 */
struct stop_wait {
	int stat_fd; /* stat file of the thread; -1: do not poll */
	uint64_t begun_ns;
	uint64_t checked_ns; /* when the thread's processor was last read */
};

enum { TRACEE_XSTATE_BYTES = 16384 };

struct tracee {
	pid_t pid;
	pid_t tid;
	bool stopped; /* and the following fields are its state at the stop */
	bool gone;    /* it has ended: nothing to restore */
	struct user_regs_struct regs;
	uint64_t mask;
	size_t xstate_bytes;
	uint64_t enter; /* an instruction that enters the kernel */
	uint64_t stopped_ns;
	struct stop_wait stop_wait; /* polls for its stops, or sleeps */
	unsigned char xstate[TRACEE_XSTATE_BYTES];
};

/**
 * tracee_seize - become a thread's tracer; it goes on running
 * @enter: address of a syscall instruction in its code
 *
 * Return:  0; -ESRCH; -EPERM: not allowed, or already traced.
 * Context: any thread; all later calls from the same one.
 */
int tracee_seize(struct tracee *tracee, pid_t pid, pid_t tid, uint64_t enter);

/**
 * tracee_stop - stop it, and save its state
 *
 * Signals that come first are delivered.
 *
 * Return:  0; -ESRCH: it has ended; -EAGAIN: it is being stopped by a signal; -ETIMEDOUT: it
 *          did not stop.
 * Context: any thread, the tracer.
 */
int tracee_stop(struct tracee *tracee);

/**
 * tracee_block_signals - block its signals, before calls on it
 *
 * Return:  0; -ESRCH and others: nothing has changed.
 * Context: any thread, the tracer.
 */
int tracee_block_signals(struct tracee *tracee);

/**
 * tracee_syscall - execute a system call on it
 * @args: six arguments
 *
 * Return:  0 and the result of the call; -ESRCH: it has ended.
 * Context: any thread, the tracer; after tracee_block_signals().
 */
int tracee_syscall(struct tracee *tracee, long nr, const uint64_t *args, long *ret_answer);

/**
 * tracee_continue - let it run injected code
 * @begin: its registers; NULL: continue where it is
 *
 * Return:  0; -ESRCH: it has ended.
 * Context: any thread, the tracer; after tracee_block_signals().
 */
int tracee_continue(struct tracee *tracee, struct user_regs_struct *begin);

/**
 * tracee_wait_fault - wait until injected code faults or stops
 * @ret_signal: the signal of the fault
 *
 * Return:  0 and its registers; -ESRCH: it has ended; -ETIMEDOUT: it waits for a lock, and was
 *          interrupted.
 * Context: any thread, the tracer; after tracee_continue().
 */
int tracee_wait_fault(struct tracee *tracee, struct user_regs_struct *ret_regs, int *ret_signal);

/**
 * tracee_detach - restore its state and let it continue, untraced
 *
 * A system call that the stop ended, and that the kernel would not restart (epoll_wait and
 * similar), starts again with its arguments, unless a pending signal is to end it.
 *
 * Context: any thread, the tracer; at any time after tracee_seize().
 */
void tracee_detach(struct tracee *tracee);

/**
 * stop_wait_open - prepare to poll a thread
 *
 * Owns:    the caller; stop_wait_close().
 */
void stop_wait_open(struct stop_wait *ret_wait, pid_t pid, pid_t tid);

/** stop_wait_close - poll no more: sleep from now on */
void stop_wait_close(struct stop_wait *wait);

/** stop_wait_begin - the thread has just been started: begin to poll */
void stop_wait_begin(struct stop_wait *wait);

/**
 * stop_wait_continues - whether to poll once more
 *
 * Closes WAIT when the thread is on the caller's processor.
 */
bool stop_wait_continues(struct stop_wait *wait);

/**
 * restart_call - have the call that a stop interrupted restarted when the thread continues
 * @regs: registers of a stopped thread; rax is changed
 *
 * The kernel restarts most calls itself. Those that fail with EINTR for any interruption, without
 * having done anything (signal(7)), would reveal the stop. A signal with a handler still causes
 * EINTR: the kernel decides that when the thread leaves the stop.
 *
 * Return:  whether there was such a call.
 */
bool restart_call(struct user_regs_struct *regs);

/**
 * restart_stopped - read the registers of a stopped thread, and have its call restarted
 *
 * Return:  0; -errno of ptrace.
 * Context: any thread, the tracer.
 */
int restart_stopped(pid_t tid, struct user_regs_struct *ret_regs);

#endif
