/* tracks.h - how much each process and thread has of a selection, and when */
#ifndef HEAT_TRACKS_H
#define HEAT_TRACKS_H

#include "flamescope/query/query.h"

#include <stdbool.h>

/* A part of the time in bins that are as long as each other. */
struct tracks_window {
	double from_ns; /* since the profile's start */
	double to_ns;
	size_t n_bins;
	bool has_before; /* the first bin has all that was before, too */
};

/* A process, or a thread; one that is alone stands for its process. */
struct track {
	const char *label;
	unsigned level;   /* 1; 2: a thread below its process */
	size_t n_threads; /* of a process; 0: it is a thread */
	double amount;    /* of the selected time */
	double running;   /* what of it is of the state "running" */
	size_t from, to;  /* its cells */
};

struct track_cell {
	uint32_t at; /* bin * n_states + the number of the state */
	double amount;
};

struct tracks {
	size_t n;
	struct track *rows; /* processes, each before its threads, most first */
	size_t n_cells;
	struct track_cell *cells; /* none of them is 0 */
	size_t n_states;          /* those that were asked for, and one for all else */
	double most[3];           /* the largest bin, by level */
	double total;             /* of the selected time */
	struct dimension threads; /* whose labels these are */
	struct dimension processes;
};

/**
 * tracks_make - the processes and threads of a selection
 * @whole:    all of the time, from which the cells are
 * @selected: the part of it that amounts are of
 * @states:   words of the tag "state", and NULL; others are one
 *
 * Amounts are what samples stand for, whatever its sign; of means and changes, how many they are.
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller, to tracks_free(); the profile has to outlive it.
 * Context: any thread.
 */
int tracks_make(const struct selection *whole, const struct selection *selected,
		const struct tracks_window *window, const char *const *states,
		struct tracks **ret_tracks, struct err *err);

/**
 * tracks_free - free it
 *
 * Context: any thread.  NULL is fine.
 */
void tracks_free(struct tracks *tracks);

/**
 * tracks_add - add what sample I of a selection has to the bins of its time
 * @step: how far the bins are from each other
 *
 * Of a sample that stands for a time each bin has its part.
 * Context: any thread.
 */
void tracks_add(const struct selection *selection, size_t i, double amount,
		const struct tracks_window *window, double *bins, size_t step);

#endif
