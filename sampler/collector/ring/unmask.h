/* unmask.h - opens SIGPROF in a thread that has blocked it behind the agent's back */
#ifndef RING_UNMASK_H
#define RING_UNMASK_H

#include <stdint.h>
#include <sys/types.h>

/**
 * unmask_thread - if a running thread has the signal of its samples blocked, unblock it
 *
 * One short ptrace stop of that one thread; it is not stopped when it sleeps or has SIGPROF open.
 *
 * Return:  0: unblocked; -EALREADY: SIGPROF is open; -EAGAIN: it does not run now; -errno of
 *          ptrace (-EPERM: it is being traced, or we may not); -EINPROGRESS: it did not stop in
 *          time, and seized_sweep() lets it go when it has.
 * Context: collector thread.
 */
int unmask_thread(pid_t pid, uint32_t tid, int signal);

#endif
