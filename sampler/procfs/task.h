/*
 * task.h - what the kernel says of one thread: the files in /proc/PID/task/TID
 *
 * Context: any thread.
 */
#ifndef PROCFS_TASK_H
#define PROCFS_TASK_H

#include "base/sample.h"

#include <stdint.h>
#include <sys/types.h>

/* Of its stat file. */
struct task_stat {
	char letter;
	uint32_t cpu;
	uint64_t system_ticks;  /* of CPU that it used in the kernel, of sysconf(_SC_CLK_TCK) */
	uint64_t started_ticks; /* since the machine was started */
};

/* What the scheduler says of a thread: /proc/PID/task/TID/schedstat. */
struct schedstat {
	uint64_t run_ns;
	uint64_t delay_ns; /* ready to run and waiting for a CPU, as far as that is over */
	uint64_t slices;
};

/**
 * task_open_all - open the directory of the threads of a process
 *
 * Return:  the descriptor (close-on-exec); -errno.
 * Owns:    the caller.
 */
int task_open_all(pid_t pid);

/**
 * task_open - open a file of a thread
 * @tasks_fd: /proc/PID/task
 *
 * Return:  the descriptor (close-on-exec); -errno.
 * Owns:    the caller.
 */
int task_open(int tasks_fd, uint32_t tid, const char *name);

/**
 * task_read_schedstat - from an open schedstat file
 *
 * Return:  0; -ESRCH: the thread is gone; -EBADMSG; -errno.
 */
int task_read_schedstat(int fd, struct schedstat *ret_schedstat);

/**
 * task_read_stat - open, read and close its stat file
 *
 * Return:  0; -ENOENT, -ESRCH: the thread is gone; -EBADMSG; -errno.
 */
int task_read_stat(int tasks_fd, uint32_t tid, struct task_stat *ret_stat);

/**
 * task_sum_run_delay - how long the threads that there are have waited for a processor, in ns
 * @tasks_fd: /proc/PID/task; is closed; < 0: there is none
 *
 * Waiting time of an ended thread is not reported any more.
 */
uint64_t task_sum_run_delay(int tasks_fd);

/**
 * task_read_comm - its name
 *
 * Return:  0; -errno.
 */
int task_read_comm(int tasks_fd, uint32_t tid, char to[SAMPLE_COMM_SIZE]);

/**
 * task_started_ns - a start in ticks as a time of ours
 * @late_ns: it was not after that
 *
 * Ticks are long: the middle of the tick, if that has been.
 */
uint64_t task_started_ns(uint64_t started_ticks, uint64_t late_ns);

#endif
