/*
 * chain.h - the program's own SIGPROF action and mask, and the delivery of SIGPROFs that are not
 * wick's
 *
 * Context: handler, unless a function says otherwise.
 */
#ifndef HANDLER_CHAIN_H
#define HANDLER_CHAIN_H

#include "sampler/handler/sys/sys.h"

#include <stdbool.h>

/*
 * While wick's handler is installed in the kernel, the program's SIGPROF action is kept here, and
 * the set of threads that asked to block the signal. fork keeps all of it, as it keeps actions and
 * masks. A thread is identified by its thread pointer, which children after fork and vfork share
 * with it.
 */

/** chain_action - the action that the program has set for SIGPROF */
void chain_action(struct sys_sigaction *ret_action);

/**
 * chain_set_action - set the program's action for SIGPROF
 * @ret_old: the previous one; may be NULL
 *
 * Context: handler.  Blocks every signal while it writes.
 */
void chain_set_action(const struct sys_sigaction *action, struct sys_sigaction *ret_old);

/** chain_handles - whether the program handles SIGPROF by a function of its own */
bool chain_handles(void);

/** chain_blocked - whether this thread asked to block SIGPROF, while the kernel has it unblocked */
bool chain_blocked(void);

/**
 * chain_in_use - whether any thread ever requested that
 *
 * If so, every new thread needs the mask that it inherits.
 */
bool chain_in_use(void);

/**
 * chain_set_blocked - note whether this thread asked to block SIGPROF
 *
 * Return:  false: not noted (table full, or a vfork child): block it in the kernel.
 */
bool chain_set_blocked(bool blocked);

/** chain_in_vfork_child - whether this is a vfork child, in the memory of a sampled parent */
bool chain_in_vfork_child(void);

/**
 * chain_on_sigprof - handle a SIGPROF as without wick
 *
 * Context: handler.  Every signal but SIGPROF is blocked; it may not return (SIG_DFL ends the
 *          process).
 */
void chain_on_sigprof(int sig, siginfo_t *info, void *uc);

#endif
