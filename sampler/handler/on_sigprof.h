/* on_sigprof.h - the signal handler that takes the samples */
#ifndef HANDLER_ON_SIGPROF_H
#define HANDLER_ON_SIGPROF_H

#include "sampler/handler/sys/sys.h"

/**
 * on_sigprof - one of our timers expired, or somebody else's SIGPROF came
 *
 * Context: handler.  Installed with every signal but SIGPROF blocked: a second one may run on
 *          top of the first, before the first's first instruction as a rule.
 */
void on_sigprof(int sig, siginfo_t *info, void *context);

#endif
