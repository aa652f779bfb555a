/* on_sigprof.h - the signal handler that takes the samples */
#ifndef HANDLER_ON_SIGPROF_H
#define HANDLER_ON_SIGPROF_H

#include "sampler/handler/sys/sys.h"

/**
 * on_sigprof - handle a signal of one of wick's timers or events, or a SIGPROF of the program
 *
 * Context: handler. Installed with every signal but SIGPROF blocked: a second one may be nested in
 *          the first, usually before its first instruction.
 */
void on_sigprof(int sig, siginfo_t *info, void *context);

#endif
