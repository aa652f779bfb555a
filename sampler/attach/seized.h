/*
 * seized.h - threads of other processes that this thread has asked to stop
 *
 * A tracer's wait also takes the end of what it traces, and nobody can wait for that again.  The
 * end of a child of our own is therefore left to whoever started it; that of any other process is
 * taken, as its parent is told of it only after that (ptrace(2), "Death under ptrace").
 */
#ifndef ATTACH_SEIZED_H
#define ATTACH_SEIZED_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * seized_interrupt - trace a thread of a process, and ask it to stop
 *
 * While another one of the process that was asked before may still be ours, none is: an exec waits
 * until we have taken the ends of its other threads, and here we would wait for the exec.
 *
 * Return:  0: call seized_detach() or seized_detach_later() later; -ESRCH: it has ended; -EPERM:
 *          it is traced by another process, or tracing is forbidden; -EINPROGRESS: not now;
 *          -errno of ptrace.
 * Context: any thread; later calls for this thread must come from the same one.
 */
int seized_interrupt(pid_t pid, pid_t tid);

/**
 * seized_check - whether a thread has stopped; never sleeps
 * @ret_signal: the one that it is about to be given; 0: none, it stopped as it was asked to
 *
 * A stop stays for the next look, and for the kernel, which gives the signal should we end now.
 *
 * Return:  1: it has; 0: not yet; -ESRCH: it has ended; -ECHILD: it is not ours, by that number.
 * Context: any thread, the one that has seized it.
 */
int seized_check(pid_t tid, int *ret_signal);

/**
 * seized_detach - let a thread that has stopped run on
 * @signal: that it is given then; 0: none
 *
 * One that is being killed is seized_detach_later()'s.
 *
 * Context: any thread, the one that has seized it.
 */
void seized_detach(pid_t pid, pid_t tid, int signal);

/**
 * seized_detach_later - let go of one that has not stopped, or has ended, as soon as that can be
 * done
 *
 * Now, or by seized_sweep().  One that has called exec meanwhile goes by its process's number.
 *
 * Context: any thread, the one that has seized it.
 */
void seized_detach_later(pid_t pid, pid_t tid);

/**
 * seized_sweep - let go of those that could not be before
 *
 * Return:  whether there are more: one in vfork() stops when its child has ended.
 * Context: any thread, the one that has seized them.
 */
bool seized_sweep(void);

#endif
