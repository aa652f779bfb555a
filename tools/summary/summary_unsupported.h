/* summary_unsupported.h - the lines of the summary about programs that had no agent */
#ifndef SUMMARY_SUMMARY_UNSUPPORTED_H
#define SUMMARY_SUMMARY_UNSUPPORTED_H

#include "base/buf.h"
#include "sampler/collector/collector.h"

/**
 * summary_unsupported - programs that were sampled from outside, not at all, or whose agent gave up
 *
 * Context: any thread.
 */
void summary_unsupported(const struct collector_stats *stats, struct buf *buf);

#endif
