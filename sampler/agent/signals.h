/* signals.h - SIGPROF as the program believes it to be */
#ifndef AGENT_SIGNALS_H
#define AGENT_SIGNALS_H

#include "sampler/handler/sys/sys.h"

#include <stdbool.h>

/* What the kernel was told for the length of an exec or spawn. */
struct signals_saved {
	bool ignored;
	bool blocked;
	struct sys_sigaction ours; /* when ignored */
};

/**
 * signals_prepare_exec - let a new image inherit what the program asked of SIGPROF, not what we
 * made of it
 *
 * Context: agent.  Any thread; also between vfork and exec.
 */
void signals_prepare_exec(struct signals_saved *ret_saved);

/**
 * signals_restore - undo it: the exec failed, or the child has been spawned
 *
 * Context: agent.  Any thread; also between vfork and exec.
 */
void signals_restore(const struct signals_saved *saved);

/**
 * signals_started - whether our handler was ever installed in this image
 *
 * Context: agent.  Any thread; also between vfork and exec.
 */
bool signals_started(void);

enum signals_verdict {
	SIGNALS_KERNEL,         /* make the real call: SIGPROF is not in our hands */
	SIGNALS_KERNEL_BUT_OLD, /* make the real call for the new action; OLD is set already */
	SIGNALS_DONE,           /* the kernel must not be asked */
};

/**
 * signals_action - the program asks for, or about, the action of SIGPROF
 * @action: NULL: it only asks what stands
 * @ret_old: what stood, as the program set it
 *
 * Context: agent.  Any thread; also between vfork and exec.
 */
enum signals_verdict signals_action(const struct sys_sigaction *action,
				    struct sys_sigaction *ret_old);

/**
 * signals_report - let the collector know whether the program handles SIGPROF itself
 *
 * Then no mask is opened from outside.
 *
 * Context: agent.  Any thread; does nothing in a vfork child.
 */
void signals_report(void);

/**
 * signals_mask_before - the program is about to change this thread's mask
 * @set: the first 64 signals; SIGPROF is taken out when it has to stay open
 *
 * Return:  whether the old mask that the program sees has SIGPROF in it, whatever the kernel says.
 * Context: agent.  Any thread; also between vfork and exec.
 */
bool signals_mask_before(int how, uint64_t *set);

/**
 * signals_begin_thread - a new thread inherits the mask that its creator believed to have
 *
 * Context: agent.  The new thread, before the program's own code.
 */
void signals_begin_thread(bool blocked);

/**
 * signals_before_wait - the program is about to wait for signals: ours is blocked meanwhile
 *
 * The process's timer sends its signal to the process.  A call that waits for signals looks at
 * those that are pending for the process before it sleeps, and ends with EINTR for one that another
 * thread is about to take.
 *
 * Return:  whether signals_after_wait() is to unblock it.
 * Context: agent.  Any thread.
 */
bool signals_before_wait(void);

/**
 * signals_after_wait - what signals_before_wait() has blocked
 *
 * Context: agent.  Any thread; leaves errno alone.
 */
void signals_after_wait(void);

/**
 * signals_altstack_fits - whether our frames can go on alternate stacks, as far as this thread
 * shows
 *
 * Context: agent.  Before handler_install().
 */
bool signals_altstack_fits(void);

/**
 * signals_before_altstack - a thread is about to get an alternate stack of so many bytes
 *
 * Context: agent.  Any thread.
 */
void signals_before_altstack(const stack_t *stack);

#endif
