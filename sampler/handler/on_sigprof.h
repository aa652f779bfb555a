/* on_sigprof.h - the signal handler that takes the samples, its installation, and the handler of
 * signals that are not wick's */
#ifndef HANDLER_ON_SIGPROF_H
#define HANDLER_ON_SIGPROF_H

#include "sampler/handler/sys/sys.h"

#include <stdbool.h>

/*
 * Called for a SIGPROF that no timer of wick sent; NULL: none. It runs in signal context with every
 * signal but SIGPROF blocked. signal_hooks.c writes it, on_sigprof.c reads it; kept by fork.
 */
extern void (*_Atomic handler_chain)(int sig, siginfo_t *info, void *uc);

/* The sampling signal: SIGPROF unless another was chosen; 0 before the first install. */
extern uint32_t handler_signal;

/* Smaller alternate stacks have no space for three of wick's signal frames; 0: not known. Written
 * by the agent before the first install. */
extern uint64_t handler_min_altstack;

/* A too small alternate stack was seen: no alternate stack is used any more. */
extern _Atomic bool handler_small_altstack;

/**
 * on_sigprof - handle a signal of one of wick's timers or events, or a SIGPROF of the program
 *
 * Context: handler. Installed with every signal but SIGPROF blocked: a second one may be nested in
 *          the first, usually before its first instruction.
 */
void on_sigprof(int sig, siginfo_t *info, void *context);

/**
 * handler_install - make on_sigprof() the action of the sampling signal
 * @signal: its number; stored in handler_signal
 * @onstack:      with SA_ONSTACK (false once an alternate stack is too small for us)
 * @ret_previous: the previous action; may be NULL
 *
 * Return:  0 or -errno.
 * Context: agent.
 */
int handler_install(int signal, bool onstack, struct sys_sigaction *ret_previous);

/**
 * handler_overflows - whether this signal's frame is on an alternate stack that is too small
 *
 * Memory below that stack belongs to the program. From now on signals use the threads' own stacks.
 * So this happens once at most, at the first signal of a thread whose sigaltstack() no hook saw.
 *
 * Return:  true: the handler has to return at once.
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
