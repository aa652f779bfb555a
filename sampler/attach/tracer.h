/* tracer.h - traces the injection thread in a child process, which survives signals to wick */
#ifndef ATTACH_TRACER_H
#define ATTACH_TRACER_H

#include "sampler/attach/inject.h"

/**
 * tracer_run - inject_run() in a child process
 *
 * If a tracer ends in the middle, the thread continues with injected registers and the program
 * crashes. The child has a session of its own and blocks all signals that it can: Ctrl-C, Ctrl-Z,
 * the end of the terminal, or a SIGKILL of wick do not keep it from restoring the thread. What
 * inject->fits() writes is lost with the child. If fork fails, the calling process traces the
 * thread.
 *
 * Return:  as inject_run(); -ECHILD: the child was killed.
 * Context: any thread.
 */
int tracer_run(const struct inject *inject, uint64_t *ret_stopped_ns, struct err *err);

#endif
