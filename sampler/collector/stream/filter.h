/* filter.h - which samples are given, and which are only counted */
#ifndef STREAM_FILTER_H
#define STREAM_FILTER_H

#include "sampler/collector/select/top.h"
#include "sampler/collector/types/options.h"
#include "sampler/collector/types/statistics.h"

#include <stdbool.h>

struct process;
struct thread;
struct node_sample;

/* Zero keeps everything. */
struct keep {
	struct collector_keep options;
	struct top top;
};

/**
 * keep_init - what is to be kept
 *
 * Context: main thread, before the drain thread runs.
 */
void keep_init(struct keep *keep, const struct collector_keep *options);

/**
 * keep_release - forget it
 *
 * Context: main thread, when the drain thread does not run.
 */
void keep_release(struct keep *keep);

/**
 * keep_sample - whether a sample is to be given
 * @thread: its thread, named; NULL when memory ran out
 *
 * Context: collector thread.
 */
bool keep_sample(struct keep *keep, const struct process *process, struct thread *thread,
		 const struct node_sample *sample);

#endif
