/* engines.h - what sends the signals of a process: its timers, or perf events as well */
#ifndef CONTROL_ENGINES_H
#define CONTROL_ENGINES_H

#include "sampler/collector/process/process.h"

struct collector;

/**
 * engines_begin - an image begins with the engine of the recording
 *
 * Context: collector thread.
 */
void engines_begin(struct collector *collector, struct process *process);

/**
 * engines_sample - a sample of CPU time of a process, with its deltas
 * @taken: its weight in periods of the rate that it was taken with, which may have been lowered
 *
 * Context: collector thread.
 */
void engines_sample(struct process *process, const struct node_sample *sample, uint64_t taken,
		    struct collector_stats *stats);

/**
 * engines_look - give a process that runs in step with the tick perf events, or count it
 *
 * Context: collector thread, at a pass, when the process has been drained.
 */
void engines_look(struct collector *collector, struct process *process);

/**
 * engines_use_timers - no image has perf events from now on
 *
 * Context: collector thread, or main thread before it runs.
 */
void engines_use_timers(struct collector *collector);

#endif
