/* install.h - our action for SIGPROF, and whom a SIGPROF that is not ours goes to */
#ifndef HANDLER_INSTALL_H
#define HANDLER_INSTALL_H

#include "sampler/handler/sys/sys.h"

#include <stdbool.h>

/*
 * Called for a SIGPROF that none of our timers sent; NULL: nobody.  It runs in signal context
 * with every signal but SIGPROF blocked.  signal_hooks.c writes it, on_sigprof.c reads it; kept by
 * fork.
 */
extern void (*_Atomic handler_chain)(int sig, siginfo_t *info, void *uc);

/* The signal that samples come by: SIGPROF unless it was to be another; 0 before the first install.
 */
extern uint32_t handler_signal;

/* Alternate stacks of fewer bytes do not hold three of our frames; 0: not known.  Written by the
 * agent before the first install. */
extern uint64_t handler_min_altstack;

/* One that is too small was met: from then on we leave alternate stacks alone. */
extern _Atomic bool handler_small_altstack;

/**
 * handler_install - make on_sigprof() the action of the signal that samples come by
 * @signal:       its number; from now on it stands in handler_signal
 * @onstack:      with SA_ONSTACK (false once an alternate stack is too small for us)
 * @ret_previous: the action that stood before; may be NULL
 *
 * Return:  0 or -errno.
 * Context: agent.
 */
int handler_install(int signal, bool onstack, struct sys_sigaction *ret_previous);

/**
 * handler_overflows - the frame of this signal stands on an alternate stack that is too small
 *
 * What lies below it is the program's.  Signals from now on come on the threads' own stacks, so
 * that this is seen once at most, at the first signal of a thread whose sigaltstack() no hook of
 * ours has seen.
 *
 * Return:  whether to return at once.
 * Context: handler.
 */
bool handler_overflows(const ucontext_t *uc);

/**
 * handler_restorer - returns from a signal handler; for rt_sigaction's sa_restorer
 *
 * Context: handler.  Not to be called.
 */
void handler_restorer(void);

#endif
