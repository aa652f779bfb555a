/* trigger_replay.h - the readings that triggers would have had while a recording was made */
#ifndef DOCTOR_TRIGGER_REPLAY_H
#define DOCTOR_TRIGGER_REPLAY_H

#include "flamescope/profile.h"
#include "tools/flight/trigger.h"

#include <stdint.h>

/**
 * trigger_replay_missing - what a recording lacks for a condition
 *
 * Return:  what to do about it, static; NULL: it lacks nothing.
 * Context: any thread, as for all of these.
 */
const char *trigger_replay_missing(const struct profile *profile,
				   const struct trigger_condition *condition);

/**
 * trigger_replay - put readings of the time of a recording, one a step, before a set
 * @step_ns: between two readings
 *
 * CPU is what the samples stand for, faults and waits for a CPU what they say in deltas; memory and
 * gauges are the last that each process said, for a minute.
 *
 * Return:  0; -ENOMEM.
 * Context: any thread.
 */
int trigger_replay(const struct profile *profile, struct trigger_set *set, uint64_t step_ns,
		   void (*fired)(void *context, const struct trigger_fired *fired), void *context);

#endif
