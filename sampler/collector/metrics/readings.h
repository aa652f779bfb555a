/*
 * readings.h - what the collector reads of a process and its threads for the metrics of samples
 *
 * Descriptors are kept open, only what was requested is read, and no more than once in
 * READING_FRESH_MS.  A value that cannot be read stays what it was: 0 where it never could.
 *
 * Context: collector thread, unless a function says otherwise.
 */
#ifndef METRICS_READINGS_H
#define METRICS_READINGS_H

#include "sampler/collector/event/event.h"
#include "sampler/collector/metrics/gauges.h"
#include "sampler/collector/metrics/metrics.h"
#include "sampler/collector/metrics/sock_queues.h"
#include "sampler/collector/types/options.h"
#include "sampler/collector/types/statistics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	READING_FRESH_MS = 25, /* between two readings of the metrics of one process or thread */
};

/* A process's. */
struct readings {
	pid_t pid;
	uint32_t wanted;
	size_t n_gauges;
	struct gauges *gauges;      /* NULL: none was named */
	struct sock_queues *queues; /* NULL: not requested, or not available */
	int statm_fd;
	int status_fd;
	int tasks_fd; /* /proc/PID/task */
	int fds_fd;   /* /proc/PID/fd */
	uint64_t read_ns;
	uint64_t cpu_ns;       /* that the process had used when it was last read */
	uint32_t gauges_found; /* bit i: it has had the gauge's name */
	int64_t values[SAMPLE_MAX_METRICS];
};

/* A thread's.  Zero it. */
struct thread_readings {
	int schedstat_fd; /* +1: 0 is none */
	int io_fd;        /* +1 */
	uint64_t read_ns;
	int64_t values[SAMPLE_MAX_METRICS];
};

/**
 * readings_init - begin with a process, and read it once
 * @options: what is wanted; the names of gauges must outlive the readings
 * @sockets: those of the machine; it must outlive the readings; NULL: no metric needs them
 *
 * What cannot be opened is not read.
 *
 * Owns:    the caller; readings_release().
 */
void readings_init(struct readings *readings, pid_t pid, const struct collector_options *options,
		   struct sock_table *sockets);

/** readings_release - close what was kept */
void readings_release(struct readings *readings);

/** readings_thread_release - close what was kept of a thread */
void readings_thread_release(struct thread_readings *thread);

/**
 * readings_n_threads - how many threads the process has
 *
 * Return:  the number; 0 when it is unknown.
 */
uint32_t readings_n_threads(const struct readings *readings);

/**
 * readings_refresh - read the process again, unless the values are fresh
 *
 * A process that is ending keeps the values it had.
 */
void readings_refresh(struct readings *readings, uint64_t now_ns);

/**
 * readings_want_thread - whether readings_fill() has any use for a thread
 *
 * Wall mode brings what schedstat says.
 *
 * Context: any thread.
 */
bool readings_want_thread(const struct readings *readings, const struct event_sample *sample);

/**
 * readings_fill - the metrics that a record does not carry
 * @thread: of the sample; NULL leaves what is a thread's 0
 *
 * A run_delay_ns that stands in the sample already is left as it is; all else is as of now, even
 * in a sample that was filled before.
 */
void readings_fill(struct readings *readings, struct thread_readings *thread,
		   struct event_sample *sample, uint64_t now_ns);

/**
 * readings_parse_statm - a statm file's text
 * @ret_kib: resident, of it anonymous, of it files and shared memory
 *
 * Return:  0; -EBADMSG.
 * Context: any thread.
 */
int readings_parse_statm(const char *text, uint64_t page_bytes, int64_t ret_kib[3]);

/**
 * readings_parse_line - the number of the line that begins with NAME and a colon
 *
 * Return:  0; -ENOENT: there is no such line; -EBADMSG: it has no number, or too large a one.
 * Context: any thread.
 */
int readings_parse_line(const char *text, const char *name, int64_t *ret_value);

/**
 * readings_parse_schedstat - the second field: ns that the thread waited for a CPU
 *
 * Return:  0; -EBADMSG.
 * Context: any thread.
 */
int readings_parse_schedstat(const char *text, int64_t *ret_ns);

#endif
