/* selection.h - what a query takes out of a profile: samples, their values and their stacks */
#ifndef QUERY_SELECTION_H
#define QUERY_SELECTION_H

#include "flamescope/query/query.h"

enum { SELECTION_EVERY_EVENT = PROFILE_MAX_EVENTS };

/*
 * The stacks are a tree of their own: groups are outermost frames, what was elided is gone.  A
 * frame number below profile->n_frames is the profile's; above, the label of a group.
 */
struct selection {
	const struct profile *profile;
	size_t n;
	uint32_t *samples; /* their numbers in the profile, ascending */
	uint32_t *stacks;  /* nodes of NODES, one each */
	int64_t *values;   /* one each, by the query's measure */
	size_t n_nodes;
	struct profile_node *nodes; /* as the profile's: 0 is the root */
	size_t n_labels;
	char **labels;
	enum query_measure measure;
	const char *unit;         /* "samples", the period's (period.h) or the metric's */
	const char *noun;         /* behind the amount of all: "of CPU"; "" */
	const char *delta_metric; /* whose changes are counted; NULL: none's are */
	bool is_signed;           /* QUERY_DELTA, or a metric that goes below zero */
	uint64_t n_absent;        /* samples that have no value of the metric: they are left out */
	uint64_t n_idle;          /* samples of idle CPUs that are left out */
	uint64_t n_others;        /* samples of other events than EVENT that are left out */
	uint32_t event;           /* the one whose samples these are; SELECTION_EVERY_EVENT */
	struct selection_memory *memory;
};

/**
 * selection_make - run a query
 *
 * Return:  0; -ENOENT: a dimension or metric that the profile has not, and which there are;
 *          -EINVAL: a pattern that is none; -E2BIG: a pattern took too long; -ENOMEM.
 * Owns:    the caller, to selection_free(); the profile has to outlive it.
 * Context: any thread.
 */
int selection_make(const struct profile *profile, const struct query *query,
		   struct selection **ret_selection, struct err *err);

/**
 * selection_frame_name - the name of a frame number, of the profile's or a group's
 *
 * Owns:    the selection or its profile.
 * Context: any thread.
 */
const char *selection_frame_name(const struct selection *selection, uint32_t frame);

/**
 * selection_free - forget it
 *
 * Context: any thread.  NULL is fine.
 */
void selection_free(struct selection *selection);

#endif
