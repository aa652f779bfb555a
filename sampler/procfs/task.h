/*
 * task.h - the threads of a process: the files in /proc/PID/task/TID, and tids in another namespace
 *
 * Context: any thread, unless a function says otherwise.
 */
#ifndef PROCFS_TASK_H
#define PROCFS_TASK_H

#include "base/map.h"
#include "base/sample.h"

#include <dirent.h>
#include <stdbool.h>
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
 * tasks_open - open the list of the threads of a process
 *
 * Return:  the open list; NULL: errno says why.
 * Owns:    the caller: _cleanup_dir_.
 */
DIR *tasks_open(pid_t pid);

/** tasks_next - the next tid of an open list; 0 at its end */
uint32_t tasks_next(DIR *tasks);

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

/* The threads of a process in another pid namespace, as they are numbered here. */
struct namespace_tids {
	pid_t pid;
	int ns_fd;        /* the namespace, if the kernel translates its thread ids; else -1, */
	struct map outer; /* and this has the ids here by the ids in the namespace */
	uint64_t next_ns; /* when they may be read again */
	uint64_t n_reads;
};

/* One thread of it, by its id here. */
struct namespace_tid {
	uint32_t outer;   /* 0: not known, */
	uint64_t n_reads; /* and they had been read so often when it was first searched */
};

/**
 * namespace_tids_init - the threads of PID, of which none is known
 *
 * Reads nothing yet, and owns nothing before namespace_tids_open().
 *
 * Context: collector thread.
 */
void namespace_tids_init(struct namespace_tids *tids, pid_t pid);

/**
 * namespace_tids_open - PID is in another namespace: from now on the kernel translates ids
 * (Linux 6.11)
 *
 * Where it cannot, all threads are read when one is not known, but no more than 20 times a second,
 * and in a twentieth of the time.
 *
 * Owns:    the caller, to namespace_tids_release().
 * Context: collector thread.
 */
void namespace_tids_open(struct namespace_tids *tids);

/**
 * namespace_tids_find - which of the threads calls itself INNER
 *
 * Return:  its tid here; 0 when it is not to be found.
 * Context: collector thread.
 */
uint32_t namespace_tids_find(struct namespace_tids *tids, uint32_t inner);

/**
 * namespace_tid_begin - a thread has come that calls itself INNER
 *
 * Context: collector thread.
 */
void namespace_tid_begin(struct namespace_tid *tid, struct namespace_tids *tids, uint32_t inner);

/**
 * namespace_tid_gone - whether it has ended; its id may be known from now on
 * @inner: as it began
 *
 * Return:  false also while that is unknown.
 * Context: collector thread.
 */
bool namespace_tid_gone(struct namespace_tid *tid, struct namespace_tids *tids, uint32_t inner);

/**
 * namespace_tids_release - forget them
 *
 * Context: collector thread.
 */
void namespace_tids_release(struct namespace_tids *tids);

#endif
