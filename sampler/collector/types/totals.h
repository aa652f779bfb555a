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

enum {
	TOTALS_IDENTITIES = 200, /* with rows of their own: those with the most time; the others are
				    added up as "other" */
	TOTALS_NO_NODE = 0,
	TOTALS_TRACE_BYTES = 16,
};

enum total_kind { TOTAL_TASK, TOTAL_FUNCTION, TOTAL_TIER };

/* One place of the code that tasks are created at, or one function: all of its instances. */
struct total_task {
	enum total_kind kind; /* TOTAL_TASK or TOTAL_FUNCTION */
	const char *name;     /* function, or the name that the program gave */
	const char *file;
	uint32_t line;
	uint64_t exec_ns;     /* it ran itself, with what it called that is no task and no function
				 of its own row */
	uint64_t exec_max_ns; /* the most of one task */
	uint64_t children_ns; /* tasks ran that it began, and their tasks: each ancestor has it once */
	uint64_t wall_ns;     /* from creation to finish, summed */
	uint64_t calls;       /* finished: completed, failed and cancelled, but not stillborn */
	uint64_t live;        /* created and not finished */
	uint64_t stillborn;   /* finished without ever having run */
	uint64_t cancelled;
	uint64_t failed;
	uint64_t stalls; /* runs that were longer than the stall limit */
};

/* What ran inside what; the parent stands before its children. */
struct total_node {
	uint32_t parent; /* index; the root, 0, is its own */
	enum total_kind kind;
	const char *name;
	const char *file;
	uint32_t line;
	uint64_t begun;
	uint64_t ended;
	uint64_t self_ns;
	uint64_t cumulative_ns; /* with all below it */
	uint64_t wall_ns;
	uint64_t max_ns;
};

/* One tier for one identity; or the requests themselves. */
struct total_tier {
	const char *tier;     /* "request": from begin to end of requests */
	const char *identity; /* "_total": all that belong to requests; "other": TOTALS_IDENTITIES; "-":
				 outside of any request, in no total */
	uint64_t count;
	uint64_t sum_ns;
	uint64_t self_ns; /* without tiers inside it */
	uint64_t min_ns;
	uint64_t max_ns;
	struct histogram durations;
	uint64_t exemplar_ns; /* the duration of one; 0: there is none */
	uint64_t exemplar_time_ns; /* when it ended: CLOCK_MONOTONIC of wick's */
	uint8_t exemplar_trace[TOTALS_TRACE_BYTES];
};

/* Rows are sorted: tasks by exec_ns + children_ns, tiers by name, then identities by sum_ns, with
 * "_total" first; a snapshot is one allocation's worth of views. */
struct totals {
	uint64_t since_ns; /* CLOCK_MONOTONIC: where counting began */
	uint64_t time_ns;  /* and up to where it goes */
	size_t n_processes; /* that have used wick.h to count something */
	size_t n_tasks;
	struct total_task *tasks;
	size_t n_nodes;
	struct total_node *nodes;
	size_t n_tiers;
	struct total_tier *tiers;
	uint64_t misuse[8]; /* enum tables_misuse of wire/tables.h */
	uint64_t lost_names; /* times that there was no room: counted as "other", */
	uint64_t lost_nodes;
	uint64_t lost_cells;
	uint64_t lost_durations; /* or missing from `durations` alone, */
	uint64_t lost_threads;   /* or not counted at all */
	void *memory;            /* totals_release() */
};

#endif
