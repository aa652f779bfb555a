/*
 * exec_watch.h - a program that has joined executes another, or puts its signals back, and no hook
 * of ours says so
 */
#ifndef DRAIN_EXEC_WATCH_H
#define DRAIN_EXEC_WATCH_H

#include "sampler/collector/drain/state.h"

/**
 * exec_watch_check - see, when it is due, what those without hooks have done
 *
 * The agent of one that runs another image went with the old one.  The new one is sampled from
 * outside where that may be, and is let go where not; either way the summary names it.  One that
 * has no handler for our signal any more gives no samples, which the summary says as well.
 *
 * Context: collector thread.
 */
void exec_watch_check(struct collector *collector, uint64_t now_ns);

#endif
