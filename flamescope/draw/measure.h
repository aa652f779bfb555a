/* measure.h - what was counted, in words */
#ifndef DRAW_MEASURE_H
#define DRAW_MEASURE_H

#include "base/buf.h"
#include "flamescope/query/selection.h"

/**
 * measure_word - "samples", "period", "value", "mean", "delta", "gain", "loss"
 *
 * Context: any thread, as for all of these.
 */
const char *measure_word(const struct selection *selection);

/**
 * measure_taken - how many samples there are: "1,095 samples"; of folded stacks "12 stacks"
 *
 * Context: any thread.
 */
void measure_taken(struct buf *buf, const struct selection *selection);

/**
 * measure_total - what they count together: "5.66 s of CPU", "560.8 MiB"
 *
 * Context: any thread.
 */
void measure_total(struct buf *buf, const struct selection *selection, uint64_t total);

/**
 * measure_unit_word - what there are shares of: "time", "bytes", "samples", "page-faults"
 * @unit: of a selection
 *
 * Owns:    a constant, or UNIT.
 * Context: any thread.
 */
const char *measure_unit_word(const char *unit);

/**
 * measure_json - members of an object: measure and unit
 *
 * Context: any thread.
 */
void measure_json(struct buf *buf, const struct selection *selection);

#endif
