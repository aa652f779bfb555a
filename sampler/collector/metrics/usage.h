/*
 * usage.h - what all processes of a recording use together, read a few times a second
 *
 * Triggers use it, with or without samples.  Only what was requested is read.
 *
 * Context: collector thread, unless a function says otherwise.
 */
#ifndef METRICS_USAGE_H
#define METRICS_USAGE_H

#include "sampler/collector/types/options.h"
#include "sampler/collector/types/statistics.h"

#include <stdint.h>
#include <sys/types.h>

enum {
	USAGE_MS = 250,   /* between two readings of what all processes use */
	USAGE_PART = 200, /* the part of the time that a reading may take */
};

struct readings;

/* Of one process, since it was first read.  Zero it. */
struct process_usage {
	int stat_fd; /* +1: 0 is none */
	bool seen;
	uint64_t faults;
	uint64_t majfaults;
	uint64_t run_delay_ns;
};

/* The drain thread's.  Zero it, then usage_init(). */
struct usage {
	uint32_t wanted;
	uint64_t next_ns;
	uint64_t begun_ns;                /* start of the current reading, in CPU of this thread */
	int psi_fds[COLLECTOR_PSI_FILES]; /* -1: there is none */
	struct collector_usage now;
};

/**
 * usage_init - what to read, bits of enum collector_usage_of
 *
 * Context: main thread, before the drain thread runs.
 */
void usage_init(struct usage *usage, uint32_t wanted);

/**
 * usage_release - close what was kept
 *
 * Context: main thread, when the drain thread does not run.
 */
void usage_release(struct usage *usage);

/**
 * usage_begin - begin to read all processes, if that is due
 * @cpu_ns: what they and all before them have used
 *
 * usage_add() for each process and usage_end() follow.  Readings take USAGE_PART of the time at
 * most, however many threads there are.
 *
 * Return:  whether it is due.
 */
bool usage_begin(struct usage *usage, uint64_t cpu_ns, uint64_t now_ns);

/** usage_add - add a process */
void usage_add(struct usage *usage, struct process_usage *own, struct readings *readings);

/** usage_end - read what is of the machine, and set when the next reading is due */
void usage_end(struct usage *usage);

/**
 * usage_due_ns - when usage_begin() next has something to do
 *
 * Return:  ns; UINT64_MAX: never.
 */
uint64_t usage_due_ns(const struct usage *usage);

/** usage_process_release - close what was kept of a process */
void usage_process_release(struct process_usage *process);

/**
 * usage_parse_psi - the avg10 of a line of /proc/pressure, in hundredths of a percent
 * @word: "some" or "full"
 *
 * Return:  0; -ENOENT: there is no such line; -EBADMSG.
 * Context: any thread.
 */
int usage_parse_psi(const char *text, const char *word, uint32_t *ret_avg10);

#endif
