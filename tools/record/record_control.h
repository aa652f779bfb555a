/* record_control.h - what a recording does when it is asked to while it runs */
#ifndef RECORD_RECORD_CONTROL_H
#define RECORD_RECORD_CONTROL_H

#include "sampler/collector/collector.h"
#include "tools/control/control_server.h"

#include <stdbool.h>
#include <stdint.h>

struct recorder;

/* Zero it. */
struct record_control {
	struct control_server server;
	struct collector_rate rate; /* the last that has come by */
	uint32_t hz_least;          /* of all that have */
	uint32_t hz_most;
};

/**
 * record_control_start - be found by `wick stop -p PID` and the like
 *
 * A recording that cannot be is a recording; why is told.
 *
 * Context: main thread, as for all of these.
 */
void record_control_start(struct recorder *recorder);

/**
 * record_control_tick - begin to do what was asked for
 *
 * Context: main thread.
 */
void record_control_tick(struct recorder *recorder, uint64_t now_ns);

/**
 * record_control_passed - another rate, or a mark, behind all samples that were taken before it
 *
 * Context: main thread.
 */
void record_control_passed(struct recorder *recorder, const struct collector_rate *rate);

/**
 * record_control_stop - be found no more
 *
 * Context: main thread.
 */
void record_control_stop(struct recorder *recorder);

#endif
