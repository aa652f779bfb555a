/* top_read.h - what a thread has used, from /proc, for the choice of the heaviest */
#ifndef SELECT_TOP_READ_H
#define SELECT_TOP_READ_H

#include "sampler/collector/types/options.h"
#include "sampler/collector/types/statistics.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process;

/* A thread to read. */
struct top_task {
	const struct process *process;
	int tasks_fd; /* of /proc/PID/task */
	uint32_t tid;
	enum collector_by by;
	uint64_t process_total; /* of BY_RSS and BY_GAUGE */
};

struct top_use {
	uint64_t total;
	uint64_t cpu_ns; /* 0 where it is the total or not known */
};

/**
 * top_read - what a thread has used
 * @fd: a descriptor from an earlier call, or -1; left open for the next one
 *
 * Return:  true and *RET_USE; false when the thread is gone or may not be looked at.
 * Owns:    the caller, *FD.
 * Context: any thread.
 */
bool top_read(const struct top_task *task, int *fd, struct top_use *ret_use);

/**
 * top_read_rss - what all threads of a process have in common
 *
 * Return:  KiB resident; 0 when it is not to be had.
 * Context: any thread.
 */
uint64_t top_read_rss(pid_t pid);

/**
 * top_parse - the number that is asked for, out of the text of its file
 * @text: of schedstat, stat or io, whichever BY is read from
 *
 * Return:  true and *RET_VALUE; false when it is not there.
 * Context: any thread.
 */
bool top_parse(const char *text, enum collector_by by, uint64_t *ret_value);

#endif
