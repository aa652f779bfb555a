/* unmask.h - opens SIGPROF in a thread that has blocked it behind the agent's back */
#ifndef COLLECTOR_UNMASK_H
#define COLLECTOR_UNMASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * unmask_thread - if a running thread has the signal of its samples blocked, unblock it
 *
 * One short ptrace stop of that one thread; it is not stopped when it sleeps or has SIGPROF open.
 *
 * Return:  0: unblocked; -EALREADY: SIGPROF is open; -EAGAIN: it does not run now; -errno of
 *          ptrace (-EPERM: it is being traced, or we may not); -EINPROGRESS: it did not stop in
 *          time, call unmask_let_go() until that says true.
 * Context: collector thread.
 */
int unmask_thread(pid_t pid, uint32_t tid, int signal);

/**
 * unmask_let_go - detach from a thread that was too slow to stop, if it has stopped by now
 *
 * Return:  true: it is free, or has ended; false: not yet.
 * Context: collector thread, the one that called unmask_thread().
 */
bool unmask_let_go(pid_t tid);

#endif
