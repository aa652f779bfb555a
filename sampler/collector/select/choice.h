/*
 * choice.h - which of the machine's processes are recorded: the heaviest, chosen anew
 *
 * As for threads (top.h), use in the last eighth of an interval counts many times more, so that a
 * round chooses a process that became heavy just before it.  Attaching and detaching stop a thread
 * of the process for a moment.  Therefore a recorded process keeps its slot against one that is
 * little heavier, and a process with hardly any use gets no slot.
 *
 * Context: main thread, unless a function says otherwise.
 */
#ifndef SELECT_CHOICE_H
#define SELECT_CHOICE_H

#include "base/map.h"
#include "sampler/collector/select/top.h"
#include "sampler/collector/types/options.h"
#include "sampler/collector/types/statistics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A process as a scan finds it. */
struct choice_seen {
	pid_t pid;
	uint64_t start; /* ticks since boot: tells it from another of the same number */
	uint64_t total; /* what it has used, or has where that rises and falls */
};

/* What a round does with processes. */
struct choice_ops {
	bool (*records)(void *context, pid_t pid);
	int (*attach)(void *context, pid_t pid); /* 0; -errno, as collector_attach() */
	void (*detach)(void *context, pid_t pid);
	void *context;
};

/* The main thread's.  Zero it, then choice_init(). */
struct choice {
	struct collector_top options;
	struct map processes;   /* of struct choice_process, by pid */
	uint64_t scan;          /* number of scans */
	uint64_t last_round_ns; /* when the last round was */
	struct rounds rounds;
	uint64_t n_attached;
	uint64_t n_detached;
	uint64_t n_refused; /* tries that led to nothing */
};

/** choice_init - nothing chosen, the first scan due at once */
void choice_init(struct choice *choice, const struct collector_top *options);

/** choice_release - forget all processes */
void choice_release(struct choice *choice);

/** choice_due - when the next scan is due */
uint64_t choice_due(const struct choice *choice);

/** choice_begin - begin a scan */
void choice_begin(struct choice *choice);

/** choice_see - add one process to this scan */
void choice_see(struct choice *choice, const struct choice_seen *seen);

/**
 * choice_still - whether a process is one that was seen before, and has used nothing since
 *
 * If so, it counts as seen in this scan.
 */
bool choice_still(struct choice *choice, pid_t pid, uint64_t total);

/**
 * choice_end - end a scan; when a round is due, attach to the heaviest and detach from others
 * @now_ns: when the scan began
 */
void choice_end(struct choice *choice, const struct choice_ops *ops, uint64_t now_ns);

/*
 * A variable of processes, whether or not they are recorded: gauges are read externally, so no
 * process is attached to for it.  The variable's address in a process is kept from scan to scan.
 */
/* Zero it and set the name, which outlives it; choice_gauges_release() takes any state. */
struct choice_gauges {
	const char *name;
	struct map readers; /* by pid, in a struct of choice_scan.c */
	uint64_t scan;      /* counts sweeps */
};

/**
 * choice_gauges_read - what the variable of a process is now
 * @start: tells it from another of the same number
 *
 * Return:  0 also for a negative value, and where there is none or it may not be read.
 */
uint64_t choice_gauges_read(struct choice_gauges *gauges, pid_t pid, uint64_t start);

/** choice_gauges_sweep - forget the processes that were not read since the last time */
void choice_gauges_sweep(struct choice_gauges *gauges);

/** choice_gauges_release - forget all of them */
void choice_gauges_release(struct choice_gauges *gauges);

/**
 * choice_scan - show a choice every process that may be chosen
 * @gauges: BY_GAUGE: of which variable; else NULL
 * @proc: where /proc is
 *
 * Those of this user, or all for root; not threads of the kernel, zombies and wick itself.
 *
 * Return:  0; -errno: PROC cannot be listed.
 * Context: main thread, between choice_begin() and choice_end().
 */
int choice_scan(struct choice *choice, struct choice_gauges *gauges, const char *proc);

#endif
