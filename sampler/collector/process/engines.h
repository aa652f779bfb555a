/* engines.h - what sends the signals of a process: its timers, or perf events as well */
#ifndef PROCESS_ENGINES_H
#define PROCESS_ENGINES_H

#include "sampler/collector/process/process.h"

/**
 * engines_sample - a sample of CPU time of a process, with its deltas
 * @taken: its weight in periods of the rate that it was taken with, which may have been lowered
 *
 * Context: collector thread.
 */
void engines_sample(struct process *process, const struct event_sample *sample, uint64_t taken,
		    struct collector_stats *stats);

/**
 * engines_check - give a process that runs in step with the tick perf events, or count it
 * @period_ns: in force for the recording
 *
 * Return:  whether it was given perf events.
 * Context: collector thread, at a pass, when the process has been drained.
 */
bool engines_check(struct process *process, const struct collector_options *options,
		   uint64_t period_ns, struct collector_stats *stats);

#endif
