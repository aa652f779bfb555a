/* strip.h - what a thread did, in the order of time: its stacks, run by run */
#ifndef STRIP_STRIP_H
#define STRIP_STRIP_H

#include "flamescope/query/selection.h"

enum { STRIP_MAX_SPANS = 4 * 1024 * 1024 };

/* A frame that stayed where it was in the stack, with all of its callers, from sample to sample. */
struct strip_span {
	uint32_t frame;
	uint32_t depth;   /* 1: outermost */
	uint64_t from_ns; /* since the profile's start */
	uint64_t to_ns;
	uint64_t gain, loss; /* of its samples, by the selection's measure */
	uint64_t samples;
};

/*
 * A sample lasts until the thread's next one.  Where that is further away than two of its periods
 * (of the recording's rate, as many as it stands for; without a rate the usual distance) nothing
 * is known of the time between: it lasts one period, and the spans end.
 */
struct strip {
	uint32_t thread;
	size_t n_spans;
	struct strip_span *spans; /* by their beginning, outer ones first */
	uint32_t depth;           /* of the deepest */
};

/**
 * strip_make - the strip of one thread of a selection
 * @thread: number of one of the profile's
 *
 * Return:  0; -E2BIG: more than STRIP_MAX_SPANS, and what would do; -ENOENT: no such thread;
 *          -ENOMEM.
 * Owns:    the caller, to strip_free().
 * Context: any thread.
 */
int strip_make(const struct selection *selection, uint32_t thread, struct strip **ret_strip,
	       struct err *err);

/**
 * strip_free - forget it
 *
 * Context: any thread.  NULL is fine.
 */
void strip_free(struct strip *strip);

struct strip_thread {
	uint32_t thread;
	uint64_t samples;
};

/**
 * strip_threads - which threads have samples in a selection, most first
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller: free(*ret_threads).
 * Context: any thread.
 */
int strip_threads(const struct selection *selection, struct strip_thread **ret_threads,
		  size_t *ret_n);

#endif
