/* filter.h - which samples are given, and which are only counted */
#ifndef STREAM_FILTER_H
#define STREAM_FILTER_H

#include "sampler/collector/select/top.h"
#include "sampler/collector/types/options.h"
#include "sampler/collector/types/statistics.h"

#include <stdbool.h>

struct process;
struct thread;
struct event_sample;

/* Zero passes everything. */
struct filter {
	struct collector_filter options;
	struct top top;
};

/**
 * filter_init - set the options
 *
 * Context: main thread, before the drain thread runs.
 */
void filter_init(struct filter *filter, const struct collector_filter *options);

/**
 * filter_release - forget it
 *
 * Context: main thread, when the drain thread does not run.
 */
void filter_release(struct filter *filter);

/**
 * filter_keeps - whether a sample is to be given
 * @thread: its thread, named; NULL when memory ran out
 *
 * Context: collector thread.
 */
bool filter_keeps(struct filter *filter, const struct process *process, struct thread *thread,
		  const struct event_sample *sample);

#endif
