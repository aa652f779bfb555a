/* tracer.h - the thread is held by a process of its own, that nothing sent to wick ends */
#ifndef ATTACH_TRACER_H
#define ATTACH_TRACER_H

#include "sampler/attach/inject.h"

/**
 * tracer_run - inject_run() in a child that outlives us
 *
 * A tracer that ends half way leaves a thread with registers of ours, and the program crashes.
 * The child has a session of its own and blocks what can be blocked: Ctrl-C, Ctrl-Z, a SIGKILL of
 * this process and the end of its terminal do not stop it from putting back what was.  What
 * inject->fits() writes is lost with it.  Where no process can be made we hold the thread.
 *
 * Return:  as inject_run(); -ECHILD: the child was killed.
 * Context: any thread.
 */
int tracer_run(const struct inject *inject, uint64_t *ret_stopped_ns, struct err *err);

#endif
