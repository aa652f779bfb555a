/*
 * proc_stat.h - the stat file of a process or a thread, and how a process ended
 *
 * Context: any thread.
 */
#ifndef PROCFS_PROC_STAT_H
#define PROCFS_PROC_STAT_H

#include <stdint.h>
#include <sys/types.h>

/* Where things stand in it, as proc(5) numbers them. */
enum proc_stat_field {
	STAT_PARENT = 4,
	STAT_FLAGS = 9,
	STAT_MINFLT = 10,
	STAT_MAJFLT = 12,
	STAT_SYSTEM = 15,        /* CPU in the kernel, ticks */
	STAT_CHILDREN_USER = 16, /* of those that were waited for, ticks */
	STAT_CHILDREN_SYSTEM = 17,
	STAT_START = 22, /* ticks since the machine was started, of sysconf(_SC_CLK_TCK) */
	STAT_RSS = 24,   /* pages */
	STAT_STACK = 28, /* where the image's stack begins */
	STAT_CPU = 39,
	STAT_EXIT_CODE = 52,
};

struct proc_stat {
	char state;
	uint64_t at[STAT_EXIT_CODE + 1]; /* by number, from STAT_PARENT to what was requested */
};

/**
 * proc_stat_parse - a stat file's text up to the field LAST, whatever the process calls itself
 *
 * Return:  0; -EBADMSG: it is none, or ends before that.
 */
int proc_stat_parse(const char *text, enum proc_stat_field last, struct proc_stat *ret_stat);

/**
 * proc_stat_read - the same from an open stat file
 *
 * Return:  0; -EBADMSG; -ESRCH: the process is gone; -errno.
 */
int proc_stat_read(int fd, enum proc_stat_field last, struct proc_stat *ret_stat);

/**
 * proc_stat_of - the same of a process
 *
 * Return:  0; -EBADMSG; -ESRCH; -errno.
 */
int proc_stat_of(pid_t pid, enum proc_stat_field last, struct proc_stat *ret_stat);

enum { ENDED_ITSELF = 0, ENDED_UNKNOWN = -1 };

/**
 * ended_by - the signal that ended a process which is a zombie or gone
 * @pidfd: of it; -1: there is none
 *
 * A zombie's stat file says it to those who may read it; since Linux 6.15 a pidfd does so of what
 * has been waited for.  In between a parent that waits is quicker than we are.
 *
 * Return:  the signal; ENDED_ITSELF: it exited; ENDED_UNKNOWN.
 */
int ended_by(pid_t pid, int pidfd);

/** ended_by_status - the same of a wait status */
int ended_by_status(int wait_status);

#endif
