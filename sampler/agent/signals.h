/*
 * signals.h - emulates the program's own SIGPROF action and mask while wick's handler is installed
 *
 * Context: agent (any thread; also between vfork and exec), unless a function says otherwise.
 */
#ifndef AGENT_SIGNALS_H
#define AGENT_SIGNALS_H

#include "sampler/handler/sys/sys.h"

#include <stdbool.h>

/* What was changed for the time of an exec or spawn. */
struct signals_saved {
	bool ignored;
	bool blocked;
	struct sys_sigaction ours; /* when ignored */
};

/** signals_prepare_exec - let a new image inherit the program's own SIGPROF action and mask */
void signals_prepare_exec(struct signals_saved *ret_saved);

/** signals_restore - undo signals_prepare_exec(): the exec failed, or the child has been spawned */
void signals_restore(const struct signals_saved *saved);

/** signals_started - whether our handler was ever installed in this image */
bool signals_started(void);

enum signals_verdict {
	SIGNALS_KERNEL,         /* make the real call: wick's handler is not installed */
	SIGNALS_KERNEL_BUT_OLD, /* make the real call with the new action; OLD is set already */
	SIGNALS_DONE,           /* make no call */
};

/**
 * signals_action - the program sets or reads the action of SIGPROF
 * @action: the new action; NULL: only read
 * @ret_old: the old action, as the program set it
 */
enum signals_verdict signals_action(const struct sys_sigaction *action,
				    struct sys_sigaction *ret_old);

/**
 * signals_report - tell the collector whether the program handles SIGPROF itself
 *
 * If it does, the collector does not unblock the signal from outside.
 *
 * Context: agent.  Any thread; does nothing in a vfork child.
 */
void signals_report(void);

/**
 * signals_mask_before - the program is about to change this thread's mask
 * @set: the first 64 signals; SIGPROF is removed if it has to stay unblocked
 *
 * Return:  whether the program sees SIGPROF in the old mask, whatever the kernel says.
 */
bool signals_mask_before(int how, uint64_t *set);

/**
 * signals_begin_thread - give a new thread the mask that its creator believes to have
 *
 * Context: agent.  The new thread, before the program's own code.
 */
void signals_begin_thread(bool blocked);

/**
 * signals_before_wait - block the sampling signal before the program waits for signals
 *
 * The process timer sends its signal to the process. A call that waits for signals checks the
 * pending signals of the process before it sleeps, and fails with EINTR even when another thread is
 * about to take the signal.
 *
 * Return:  whether signals_after_wait() is to unblock it.
 * Context: agent.  Any thread.
 */
bool signals_before_wait(void);

/**
 * signals_after_wait - undo signals_before_wait()
 *
 * Context: agent.  Any thread; leaves errno alone.
 */
void signals_after_wait(void);

/**
 * signals_altstack_fits - whether this thread's alternate stack has space for wick's signal frames
 *
 * Context: agent.  Before handler_install().
 */
bool signals_altstack_fits(void);

/**
 * signals_before_altstack - a thread is about to set this alternate stack
 *
 * Context: agent.  Any thread.
 */
void signals_before_altstack(const stack_t *stack);

#endif
