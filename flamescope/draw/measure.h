/* measure.h - what was counted, in words */
#ifndef DRAW_MEASURE_H
#define DRAW_MEASURE_H

#include "base/buf.h"
#include "flamescope/query/selection.h"

/**
 * measure_word - "samples", "weight", "value", "mean", "delta", "gain", "loss"
 *
 * Context: any thread, as for all of these.
 */
const char *measure_word(const struct selection *selection);

/**
 * measure_json - members of an object: measure and unit
 *
 * Context: any thread.
 */
void measure_json(struct buf *buf, const struct selection *selection);

#endif
