/*
 * internal.h - the lines of the summary
 *
 * Context: any thread.
 */
#ifndef SUMMARY_INTERNAL_H
#define SUMMARY_INTERNAL_H

#include "base/buf.h"
#include "tools/summary/summary.h"

/** summary_files - which files were written, what they lack, and the commands that show them */
void summary_files(const struct summary *summary, struct buf *buf);

/**
 * summary_topic - begin a line
 * @topic: "" for one that goes on with the topic of the line before
 */
void summary_topic(struct buf *buf, const char *topic);

/**
 * summary_cause - VALUE and what it counts, after a comma when it is not the first; nothing for 0
 */
void summary_cause(struct buf *buf, uint64_t value, const char *cause, bool *first);

/**
 * summary_unsupported - programs that were sampled externally, not at all, or whose agent gave up
 */
void summary_unsupported(const struct collector_stats *stats, struct buf *buf);

/** summary_cost - shares of the program's CPU, and what was done because of them */
void summary_cost(const struct summary *summary, struct buf *buf);

/** summary_lost - what was lost, by cause */
void summary_lost(const struct summary *summary, struct buf *buf);

/**
 * summary_counts - exact counts by wick.h, and what is not in them; nothing without any
 * @was_killed: a signal ended CMD, so that its last counts could not be read
 */
void summary_counts(const struct totals *totals, bool was_killed, struct buf *buf);

#endif
