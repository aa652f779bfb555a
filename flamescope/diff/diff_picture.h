/* diff_picture.h - a comparison as flame graphs that draw/ can draw */
#ifndef DIFF_DIFF_PICTURE_H
#define DIFF_DIFF_PICTURE_H

#include "flamescope/diff/diff.h"
#include "flamescope/flame/flame.h"

/* Widths are the mean of both sides' shares in this part of the whole. */
enum { DIFF_PICTURE_WHOLE = 1000000000 };

struct diff_picture {
	struct flame calls;
	struct flame reverse;
	double *change; /* of the share, NEW - BASE, by node of calls */
	double *reverse_change;
	struct diff_picture_memory *memory;
};

/**
 * diff_picture_make - both flame graphs of a comparison
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller, to diff_picture_release(), also after a failure; the comparison has to
 *          outlive it.
 * Context: any thread.
 */
int diff_picture_make(const struct diff *diff, struct diff_picture *picture);

/**
 * diff_picture_release - forget it
 *
 * Context: any thread.
 */
void diff_picture_release(struct diff_picture *picture);

#endif
