/*
 * top.h - the heaviest threads of a recording, chosen anew every INTERVAL
 *
 * Heavy is what a thread has used since the last round, and what it used in the last eighth of
 * that time counts TOP_RECENT times more: a thread that became heavy just before a round is in it,
 * and not in the next.  The total decides among equals.  Slots that no round has filled go to the
 * threads that give samples first.
 *
 * Context: any thread, unless a function says otherwise.
 */
#ifndef SELECT_TOP_H
#define SELECT_TOP_H

#include "base/map.h"
#include "sampler/collector/types/options.h"
#include "sampler/collector/types/statistics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process;

/* A thread or a process among those that are ranked. */
struct ranked {
	uint64_t key;   /* the lesser one is first among equals */
	uint64_t total; /* what it has used */
	uint64_t at_round;
	uint64_t at_late;
	uint64_t score;  /* of the last round */
	uint64_t cpu_ns; /* the second tie-break, where all threads of a process are equal */
	uint64_t scan;   /* that saw it last */
};

/* When the heaviest are chosen. */
struct rounds {
	uint64_t pause_ns; /* from the last round to the next: grows to the interval */
	uint64_t round_ns; /* when the next round is due */
	uint64_t late_ns;  /* when the last eighth before it begins */
	bool late;         /* it has begun */
};

/* A thread as it was last read. */
struct top_thread {
	struct ranked ranked; /* by process number and tid; the first member */
	int fd;               /* of what is read; -1: opened anew each time */
	bool chosen;
};

/* The drain thread's.  Zero it, then top_init(). */
struct top {
	struct collector_top options; /* n 0: all threads are chosen */
	pid_t own_pid;                /* wick's: never among them */
	struct map threads;           /* of struct top_thread, by key */
	size_t n_chosen;
	struct rounds rounds;
	uint64_t scan; /* number of scans */
	int most_fd;   /* descriptors beyond this one are not kept */
	bool ran;      /* there has been a round */
};

/**
 * top_init - nothing chosen, the first round due at once
 *
 * Context: main thread, before the drain thread runs.
 */
void top_init(struct top *top, const struct collector_top *options);

/**
 * top_release - forget all threads
 *
 * Context: main thread, when the drain thread does not run.
 */
void top_release(struct top *top);

/**
 * top_scan - read the threads of all processes, if that is due
 * @processes: the first of a list
 *
 * Context: collector thread.
 */
void top_scan(struct top *top, struct process *processes, uint64_t now_ns);

/**
 * top_due_ns - when top_scan() next has something to do
 *
 * Return:  ns; UINT64_MAX: never.
 * Context: collector thread.
 */
uint64_t top_due_ns(const struct top *top);

/**
 * top_keeps - whether a thread is among the heaviest, or takes a free slot
 *
 * A thread of another pid namespace has a tid that we cannot map: it is always kept.
 *
 * Context: collector thread.
 */
bool top_keeps(struct top *top, const struct process *process, uint32_t tid);

/**
 * top_score - how heavy a thread has been since the last round
 * @late: its total when the last eighth began
 *
 * A total that fell is another thread's of the same number: all of it counts.
 */
uint64_t top_score(uint64_t total, uint64_t at_round, uint64_t at_late);

/** top_rank - sort by score, then total, then CPU, the heaviest first */
void top_rank(struct ranked **all, size_t n);

/** rounds_begin_late - the last eighth before a round begins, for a map whose values begin ranked
 */
void rounds_begin_late(struct rounds *rounds, struct map *all);

/**
 * rounds_plan - when the next round is due, after one
 *
 * The first rounds come soon: a program begins with few of the threads that it will have.
 */
void rounds_plan(struct rounds *rounds, uint64_t interval_ns, uint64_t now_ns);

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
 * Return:  true and *RET_USE; false when the thread is gone or may not be read.
 * Owns:    the caller, *FD.
 */
bool top_read(const struct top_task *task, int *fd, struct top_use *ret_use);

/**
 * top_read_rss - what all threads of a process have in common
 *
 * Return:  KiB resident; 0 when it is not to be had.
 */
uint64_t top_read_rss(pid_t pid);

/**
 * top_parse - the requested number from the text of its file
 * @text: of schedstat, stat or io, whichever BY is read from
 *
 * Return:  true and *RET_VALUE; false when it is not there.
 */
bool top_parse(const char *text, enum collector_by by, uint64_t *ret_value);

#endif
