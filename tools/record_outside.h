/* record_outside.h - `wick record` of programs that take no agent */
#ifndef TOOLS_RECORD_OUTSIDE_H
#define TOOLS_RECORD_OUTSIDE_H

#include "base/err.h"
#include "sampler/collector/collector.h"
#include "tools/record_options.h"

#include <sys/types.h>

struct recorder;

/**
 * record_outside_prepare - what the collector is told of it
 *
 * Context: main thread, as for all of these.
 */
void record_outside_prepare(const struct record_options *options, struct collector_options *to);

/**
 * record_outside_check - whether what is asked for can be had without an agent, if there is none
 *
 * Return:  0; -EINVAL and the reason.
 * Context: main thread.
 */
int record_outside_check(const struct record_options *options, struct err *err);

/**
 * record_outside_launched - say so, when CMD takes no agent and is sampled from outside
 *
 * Context: main thread.
 */
void record_outside_launched(const struct recorder *recorder);

/**
 * record_outside_join - have a running process sampled from outside, where that is wanted
 * @error: why it did not join otherwise; 0: that was not tried
 * @err:   holds that reason; the new one if there is
 *
 * Return:  0; ERROR: it is not wanted; -errno and the reason.
 * Context: main thread.
 */
int record_outside_join(struct recorder *recorder, pid_t pid, int error, struct err *err);

/**
 * record_outside_only - whether no process is to have an agent
 *
 * Context: main thread.
 */
bool record_outside_only(const struct record_options *options);

#endif
