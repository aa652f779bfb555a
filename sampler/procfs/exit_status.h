/* exit_status.h - how a process ended that may be nobody's child of ours */
#ifndef PROCFS_EXIT_STATUS_H
#define PROCFS_EXIT_STATUS_H

#include <sys/types.h>

enum { ENDED_ITSELF = 0, ENDED_UNKNOWN = -1 };

/**
 * ended_by - the signal that ended a process which is a zombie or gone
 * @pidfd: of it; -1: there is none
 *
 * A zombie's stat file says it to those who may read it; since Linux 6.15 a pidfd does so of what
 * has been waited for.  In between a parent that waits is quicker than we are.
 *
 * Return:  the signal; ENDED_ITSELF: it exited; ENDED_UNKNOWN.
 * Context: any thread.
 */
int ended_by(pid_t pid, int pidfd);

/**
 * ended_by_status - the same of a wait status
 *
 * Context: any thread.
 */
int ended_by_status(int wait_status);

#endif
