/* internal.h - the lines of the summary */
#ifndef SUMMARY_INTERNAL_H
#define SUMMARY_INTERNAL_H

#include "base/buf.h"
#include "tools/summary/summary.h"

/**
 * summary_files - which files were written, what they lack, and the commands that show them
 *
 * Context: any thread.
 */
void summary_files(const struct summary *summary, struct buf *buf);

/**
 * summary_topic - begin a line
 * @topic: "" for one that goes on with the topic of the line before
 *
 * Context: any thread, as for all of these.
 */
void summary_topic(struct buf *buf, const char *topic);

/**
 * summary_cause - VALUE and what it counts, behind a comma when it is not the first; nothing for 0
 *
 * Context: any thread.
 */
void summary_cause(struct buf *buf, uint64_t value, const char *cause, bool *first);

/**
 * summary_unsupported - programs that were sampled from outside, not at all, or whose agent gave up
 *
 * Context: any thread.
 */
void summary_unsupported(const struct collector_stats *stats, struct buf *buf);

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

#endif
