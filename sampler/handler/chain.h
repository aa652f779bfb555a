/* chain.h - the SIGPROF that is not ours: what the program asked of it, and giving it its due */
#ifndef HANDLER_CHAIN_H
#define HANDLER_CHAIN_H

#include "sampler/handler/sys/sys.h"

#include <stdbool.h>

/*
 * While our handler stands in the kernel, what the program asked of SIGPROF stands here: its
 * action, and by thread whether it asked for the signal to be blocked.  fork keeps all of it, as
 * it keeps actions and masks.  A thread is known by its thread pointer, which a fork child has
 * in common with the thread that forked, and a vfork child too.
 */

/**
 * chain_action - what the program has asked to happen at SIGPROF
 *
 * Context: handler.
 */
void chain_action(struct sys_sigaction *ret_action);

/**
 * chain_set_action - what the program asks to happen at SIGPROF
 * @ret_old: what it had asked before; may be NULL
 *
 * Context: handler.  Blocks every signal while it writes.
 */
void chain_set_action(const struct sys_sigaction *action, struct sys_sigaction *ret_old);

/**
 * chain_handles - whether the program handles SIGPROF by a function of its own
 *
 * Context: handler.
 */
bool chain_handles(void);

/**
 * chain_blocked - whether this thread has asked for SIGPROF to be blocked and was not obeyed
 *
 * Context: handler.
 */
bool chain_blocked(void);

/**
 * chain_in_use - whether any thread ever asked for that
 *
 * Then every new thread has to be told what it inherits.
 *
 * Context: handler.
 */
bool chain_in_use(void);

/**
 * chain_set_blocked - remember it, or forget it
 *
 * Return:  false: it is not remembered (no room, or a vfork child), so obey.
 * Context: handler.
 */
bool chain_set_blocked(bool blocked);

/**
 * chain_in_vfork_child - whether this is a vfork child, in the memory of a sampled parent
 *
 * Context: handler.
 */
bool chain_in_vfork_child(void);

/**
 * chain_on_sigprof - what would have happened to this SIGPROF without us
 *
 * Context: handler.  Every signal but SIGPROF is blocked; it may not return (SIG_DFL ends the
 *          process).
 */
void chain_on_sigprof(int sig, siginfo_t *info, void *uc);

#endif
