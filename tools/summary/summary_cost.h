/* summary_cost.h - what the summary says of costs, and of what was lost to keep them low */
#ifndef SUMMARY_SUMMARY_COST_H
#define SUMMARY_SUMMARY_COST_H

#include "tools/summary/summary.h"

/**
 * summary_cost - shares of the program's CPU, and what was done because of them
 *
 * Context: any thread.
 */
void summary_cost(const struct summary *summary, struct buf *buf);

/**
 * summary_lost - what was lost, by cause
 *
 * Context: any thread.
 */
void summary_lost(const struct summary *summary, struct buf *buf);

/**
 * summary_weight_lost - the weight that was lost for want of room, by all causes together
 *
 * Context: any thread.
 */
uint64_t summary_weight_lost(const struct collector_stats *stats);

#endif
