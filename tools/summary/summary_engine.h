/* summary_engine.h - the lines of the summary about perf events */
#ifndef SUMMARY_SUMMARY_ENGINE_H
#define SUMMARY_SUMMARY_ENGINE_H

#include "base/buf.h"
#include "tools/summary/summary.h"

/**
 * summary_engine - what was counted by an event, and what perf events could not be had for
 *
 * Context: any thread.
 */
void summary_engine(const struct summary *summary, struct buf *buf);

#endif
