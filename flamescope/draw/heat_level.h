/* heat_level.h - how strong the colour of a heatmap's cell is, and where the cell is in time */
#ifndef DRAW_HEAT_LEVEL_H
#define DRAW_HEAT_LEVEL_H

#include "base/buf.h"
#include "flamescope/heat/heat.h"

#include <limits.h>

enum { HEAT_LEVEL_NONE = INT_MIN }; /* no sample: not the same as 0 */

/**
 * heat_level - of a cell: 1 to N, -1 to -N below zero, 0 for 0
 *
 * The largest value of the scale is N, the smallest below zero -N; so is what goes beyond them.
 *
 * Context: any thread, as for all of these.
 */
int heat_level(const struct heat *heat, size_t column, size_t row, int n);

/**
 * heat_cell_time - when a cell begins, against the recording's first sample
 *
 * Can be before it: columns begin at whole seconds of the recording's clock.
 *
 * Context: any thread.
 */
int64_t heat_cell_time(const struct heat *heat, const struct profile *profile, size_t column,
		       size_t row);

/**
 * heat_add_time - such a time in seconds, with the decimals that tell cells apart
 *
 * Context: any thread.
 */
void heat_add_time(struct buf *buf, const struct heat *heat, int64_t time_ns);

/**
 * heat_add_about - what the heatmap shows, in a sentence
 *
 * Context: any thread.
 */
void heat_add_about(struct buf *buf, const struct heat *heat, const struct selection *selection);

#endif
