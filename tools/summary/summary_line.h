/* summary_line.h - a line of the summary: two blanks, the topic to a fixed column, the fact */
#ifndef SUMMARY_SUMMARY_LINE_H
#define SUMMARY_SUMMARY_LINE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

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

#endif
