/*
 * seized.h - threads of other processes that this thread has asked to stop
 *
 * A tracer's wait also takes the end of what it traces, and nobody can wait for that again.  The
 * end of a child of our own is therefore left to whoever started it; that of any other process is
 * taken, as its parent is told of it only after that (ptrace(2), "Death under ptrace").
 */
#ifndef COLLECTOR_SEIZED_H
#define COLLECTOR_SEIZED_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * seized_look - whether a thread has stopped; never sleeps
 * @ret_signal: the one that it was about to be given; 0: none, it stopped as it was asked to
 *
 * Return:  1: it has; 0: not yet; -ESRCH: it has ended, or is not ours.
 * Context: any thread, the one that has seized it.
 */
int seized_look(pid_t tid, int *ret_signal);

/**
 * seized_let_go - let a thread run on
 * @signal: that it is given then; 0: none
 *
 * One that has not stopped yet, or is being killed, is let go by seized_sweep() when it can be.
 *
 * Context: any thread, the one that has seized it.
 */
void seized_let_go(pid_t tid, int signal);

/**
 * seized_sweep - let go of those that could not be before
 *
 * Return:  whether there are more: one in vfork() stops when its child has ended.
 * Context: any thread, the one that has seized them.
 */
bool seized_sweep(void);

#endif
