/* diff_input.h - the recordings that `wick diff` compares: loaded, and selected of */
#ifndef DIFF_DIFF_INPUT_H
#define DIFF_DIFF_INPUT_H

#include "base/err.h"
#include "flamescope/diff/diff.h"
#include "tools/view/view_input.h"

/* What is compared with what. */
struct diff_sides {
	struct view_input files[DIFF_SIDES];
	struct query queries[DIFF_SIDES];
	bool one_file; /* both sides are times of the same recordings */
};

/* Zero it. */
struct diff_input {
	size_t n_profiles;
	struct profile **profiles;
	struct selection **selections[DIFF_SIDES];
	struct diff_side sides[DIFF_SIDES];
	char *names[DIFF_SIDES]; /* for people */
};

/**
 * diff_input_load - load each file of both sides as a recording of its own
 *
 * Return:  0; -E2BIG: more than DIFF_MAX_RECORDINGS; as view_input_load().
 * Owns:    the caller, to diff_input_release(), also after a failure.
 * Context: main thread.
 */
int diff_input_load(struct diff_input *input, const struct diff_sides *sides, struct err *err);

/**
 * diff_input_select - select of each recording that was loaded what its side's query asks for
 *
 * Return:  as view_input_select().
 * Context: main thread.
 */
int diff_input_select(struct diff_input *input, const struct diff_sides *sides, struct err *err);

/**
 * diff_input_release - forget them
 *
 * Context: main thread.
 */
void diff_input_release(struct diff_input *input);

#endif
