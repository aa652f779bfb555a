/*
 * seized.h - stops and detaches threads of other processes by ptrace, without ever blocking
 *
 * A tracer's wait also reaps a tracee that ends, and it cannot be waited for again. So the end of
 * one of wick's own children is left to the code that started it. The end of any other process is
 * reaped, because its parent is notified only after that (ptrace(2), "Death under ptrace").
 *
 * Context: any thread, the one that has seized it, unless a function says otherwise.
 */
#ifndef ATTACH_SEIZED_H
#define ATTACH_SEIZED_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * seized_interrupt - trace a thread of a process, and ask it to stop
 *
 * Refused while another thread of the process may still be traced: an exec waits until the tracer
 * has reaped all other threads, and wick would wait for the exec.
 *
 * Return:  0: call seized_detach() or seized_detach_later() later; -ESRCH: it has ended; -EPERM:
 *          it is traced by another process, or tracing is forbidden; -EINPROGRESS: not now;
 *          -errno of ptrace.
 * Context: any thread; later calls for this thread must come from the same one.
 */
int seized_interrupt(pid_t pid, pid_t tid);

/**
 * seized_check - whether a thread has stopped; never sleeps
 * @ret_signal: the signal about to be delivered; 0: none, it stopped as requested
 *
 * The stop is not consumed: it is there for the next check, and if wick ends now the kernel still
 * delivers the signal.
 *
 * Return:  1: it has; 0: not yet; -ESRCH: it has ended; -ECHILD: no tracee has this tid.
 * Context: any thread, the tracer.
 */
int seized_check(pid_t tid, int *ret_signal);

/**
 * seized_detach - let a stopped thread continue, untraced
 * @signal: delivered to it; 0: none
 *
 * A thread that is being killed is left to seized_detach_later().
 */
void seized_detach(pid_t pid, pid_t tid, int signal);

/**
 * seized_detach_later - detach a thread that has not stopped yet, or has ended, as soon as possible
 *
 * Now, or in seized_sweep(). A thread that called exec meanwhile has its process's pid as its tid.
 */
void seized_detach_later(pid_t pid, pid_t tid);

/**
 * seized_sweep - detach threads that could not be detached before
 *
 * Return:  whether there are more: a thread in vfork() stops when its child has ended.
 * Context: any thread, the one that has seized them.
 */
bool seized_sweep(void);

#endif
