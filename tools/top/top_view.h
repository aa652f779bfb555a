/*
 * top_view.h - what `wick top` shows: a picture of the model at one moment, sorted and filtered
 *
 * Taken once a second; a frozen screen keeps the last one, and can still be sorted and searched.
 */
#ifndef TOP_TOP_VIEW_H
#define TOP_TOP_VIEW_H

#include "base/buf.h"
#include "tools/cli/pattern.h"
#include "tools/top/top_model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What rows are sorted by, most first: keys 1 to 4. */
enum top_order { TOP_BY_SELF, TOP_BY_TOTAL, TOP_BY_SELF_SUM, TOP_BY_TOTAL_SUM, N_TOP_ORDERS };

/* A function.  Percent are of one CPU, in the last two seconds, or of all time. */
struct top_row {
	const char *symbol; /* the view's own copies */
	const char *module;
	double self_pct;
	double total_pct;
	uint64_t self_ns; /* since the last reset */
	uint64_t total_ns;
};

/* A thread as /proc has it, and what its samples say. */
struct top_thread {
	pid_t pid;
	pid_t tid;
	char comm[SAMPLE_COMM_SIZE];
	char state;         /* as /proc/PID/stat has it: R, S, D, T, Z... */
	double cpu_pct;     /* of one CPU, since the reading before */
	uint64_t cpu_ns;    /* in its life */
	const char *symbol; /* innermost function of its last sample; NULL: none yet */
	const char *wait;   /* NULL: none */
};

/* Zero it; top_view_release() takes any state. */
struct top_view {
	struct top_row *rows;
	size_t n_rows;
	struct top_thread *threads;
	size_t n_threads;
	uint32_t *shown; /* which rows, or threads, in which order */
	size_t n_shown;
	struct top_second *seconds; /* the model's, as they were */
	uint64_t now_ns;
	uint64_t since_ns;
	uint64_t samples;
	double cpu_pct; /* of one CPU */
	bool full;
	bool whole; /* the caller's: percent are of all time, not of now */
	struct intern strings;
};

/**
 * top_view_take - what the model has now
 *
 * Return:  0; -ENOMEM: the view is empty.
 * Context: main thread, as for all of these.
 */
int top_view_take(struct top_view *view, const struct top_model *model, uint64_t now_ns);

/**
 * top_view_threads - the threads to show with it
 * @threads: N of them; symbol and wait are looked up in MODEL
 *
 * Return:  0; -ENOMEM.
 * Owns:    the view has its own copy.
 * Context: main thread.
 */
int top_view_threads(struct top_view *view, const struct top_model *model,
		     const struct top_thread *threads, size_t n);

/**
 * top_view_order_rows - which functions are shown, and in which order
 * @filter: names or modules that match; NULL: all
 *
 * Return:  0; -ENOMEM.
 * Context: main thread.
 */
int top_view_order_rows(struct top_view *view, enum top_order order, struct pattern *filter);

/**
 * top_view_order_threads - the same of threads: by CPU now, by state, by CPU in all, by name
 *
 * Return:  0; -ENOMEM.
 * Context: main thread.
 */
int top_view_order_threads(struct top_view *view, enum top_order order, struct pattern *filter);

/**
 * top_view_heat - how warm each cell of a heatmap is
 * @levels: ROWS times COLUMNS, the top row first: 0 nothing, up to N_LEVELS - 1
 *
 * A column is a second, the newest one at the right; rows are parts of a second, upwards.
 *
 * Context: main thread.
 */
void top_view_heat(const struct top_view *view, uint32_t rows, uint32_t columns, unsigned n_levels,
		   uint8_t *levels);

/**
 * top_view_release - forget everything
 *
 * Context: main thread.
 */
void top_view_release(struct top_view *view);

#endif
