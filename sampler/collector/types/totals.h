/*
 * totals.h - exact counts of tasks, functions, requests and tiers: what programs that use wick.h
 * have counted since the recording began, or since a reset
 *
 * Context: any thread.
 */
#ifndef TYPES_TOTALS_H
#define TYPES_TOTALS_H

#include "base/histogram.h"

#include <stddef.h>
#include <stdint.h>

/* Names that rows have of wick; a program's own name that is one of them gets a "_". */
#define TOTALS_REQUEST "request" /* the tier of whole requests */
#define TOTALS_TOTAL   "_total"  /* the identity of all requests together */
#define TOTALS_OTHER   "other"   /* identities without rows of their own */
#define TOTALS_OUTSIDE "-"       /* the identity of tiers outside of any request */

enum {
	TOTALS_IDENTITIES = 200, /* with rows of their own: those with the most time; the others are
				    added up as "other" */
	TOTALS_TRACE_BYTES = 16,
	TOTALS_MISUSES = 8, /* enum tables_misuse of wire/tables.h */
};

enum total_kind { TOTAL_TASK, TOTAL_FUNCTION, TOTAL_TIER };

/* One place of the code that tasks are created at, or one function: all of its instances. */
struct total_task {
	enum total_kind kind; /* TOTAL_TASK or TOTAL_FUNCTION */
	const char *name;     /* function, or the name that the program gave */
	const char *file;
	uint32_t line;
	uint64_t exec_ns;     /* tasks: in it and in tiers and functions inside it; functions: in it
				 and in tiers inside it */
	uint64_t exec_max_ns; /* the most exec_ns of one task, once it has finished; the longest
				 call of a function */
	uint64_t run_max_ns;  /* the longest run of a task without a pause; functions: 0 */
	uint64_t children_ns; /* what else ran inside it: tasks that it began, and their tasks;
				 functions that it called.  Each ancestor has it once */
	uint64_t wall_ns;     /* from creation to finish, summed */
	uint64_t calls;       /* finished: completed, failed and cancelled, but not stillborn */
	uint64_t live;        /* created and not finished, in processes that live */
	uint64_t stillborn;   /* finished without ever having run */
	uint64_t cancelled;
	uint64_t failed;
	uint64_t stalls; /* runs that were longer than the stall limit */
};

/* What ran inside what; the parent stands before its children. */
struct total_node {
	uint32_t parent; /* index; the root, 0, is its own, and has no name */
	enum total_kind kind;
	const char *name;
	const char *file; /* "" of a tier */
	uint32_t line;
	uint64_t begun; /* tasks created; functions and tiers entered */
	uint64_t ended; /* without stillborn ones */
	uint64_t live;
	uint64_t self_ns;
	uint64_t cumulative_ns; /* with all below it */
	uint64_t wall_ns;
	uint64_t max_ns;
	uint64_t run_max_ns;
	uint64_t stillborn;
	uint64_t cancelled;
	uint64_t failed;
	uint64_t stalls;
};

/* One tier for one identity; or the requests themselves. */
struct total_tier {
	const char *tier;     /* "request": from begin to end of requests */
	const char *identity; /* "_total": all that belong to requests; "other": TOTALS_IDENTITIES;
				 "-": outside of any request, in no total */
	uint64_t count;
	uint64_t sum_ns;
	uint64_t self_ns; /* without tiers inside it */
	uint64_t min_ns;  /* 0 with count 0 */
	uint64_t max_ns;
	struct histogram durations;
	uint64_t exemplar_ns;      /* the duration of one; 0: there is none */
	uint64_t exemplar_time_ns; /* when it ended: CLOCK_MONOTONIC of wick's */
	uint8_t exemplar_trace[TOTALS_TRACE_BYTES];
};

/* Rows are sorted: tasks by exec_ns + children_ns, tiers by name ("request" first), then identities
 * by sum_ns, with "_total" first. */
struct totals {
	uint64_t since_ns;  /* CLOCK_MONOTONIC: where counting began */
	uint64_t time_ns;   /* and up to where it goes */
	size_t n_processes; /* that have used wick.h to count something */
	size_t n_tasks;
	struct total_task *tasks;
	size_t n_nodes; /* the root is one */
	struct total_node *nodes;
	size_t n_tiers;
	struct total_tier *tiers;
	uint64_t misuse[TOTALS_MISUSES];
	uint64_t lost_names; /* times that there was no room: counted as "other", */
	uint64_t lost_nodes;
	uint64_t lost_cells;
	uint64_t lost_durations;        /* or missing from `durations` alone, */
	uint64_t lost_threads;          /* or not counted at all */
	struct totals_builder *builder; /* what the rows were made of, which owns all of it */
};

/**
 * totals_interval - what was counted between two snapshots of the same recording
 *
 * Rows have the same names as those of a snapshot; identities are chosen by the time of the
 * interval, and nothing is lost or counted twice when one has become "other" or has left it.  The
 * shortest and longest duration of the interval are known to a bucket, 1.6 %, unless they are those
 * of all; exec_max_ns and run_max_ns may be older than the interval, but never longer than the
 * lives of those that ended in it; while a task is live, run_max_ns is 0 only if none ran.  `live`
 * is that of LATER.
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller, to totals_release(); it keeps nothing of the two snapshots.
 */
int totals_interval(const struct totals *later, const struct totals *earlier,
		    struct totals *ret_interval);

/** totals_release - give the memory of all rows back; it is zero then */
void totals_release(struct totals *totals);

#endif
