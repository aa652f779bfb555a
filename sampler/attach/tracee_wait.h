/* tracee_wait.h - waits for a thread to stop: polls, then sleeps, with a time limit */
#ifndef ATTACH_TRACEE_WAIT_H
#define ATTACH_TRACEE_WAIT_H

#include "sampler/attach/stop_wait.h"

#include <stdint.h>
#include <sys/types.h>

/**
 * tracee_wait - wait until a tracee stops or ends
 *
 * Return:  0 and its wait status; -ETIMEDOUT; -ECHILD: it is no tracee any more.
 * Context: any thread, the tracer.
 */
int tracee_wait(pid_t tid, struct stop_wait *wait, uint64_t deadline_ns, int *ret_status);

#endif
