/* sampling.h - one sample: the walk, its record, and the records that must precede it */
#ifndef HANDLER_SAMPLING_H
#define HANDLER_SAMPLING_H

#include "sampler/handler/slot.h"

/* What the signal told. */
struct tick {
	const ucontext_t *uc;
	uint64_t now_ns;
	uint64_t period_ns; /* what weight is counted in */
	uint32_t tid;
	uint32_t weight; /* 1 + overruns */
	uint16_t flags;  /* enum sample_flags */
};

/**
 * sampling_take - write the interrupted stack to the thread's ring, or count its loss
 *
 * Context: handler.  Between slot_enter() and slot_leave().
 */
void sampling_take(struct process *p, struct slot *slot, const struct tick *tick);

/**
 * sampling_name - write the name of the slot's thread, if it is not what was written last
 *
 * Context: handler.  Between slot_enter() and slot_leave(); not in AGENT_QUIET.
 */
void sampling_name(struct slot *slot, uint32_t tid, uint64_t now_ns);

/**
 * sampling_wake - wake the collector: a ring is filling up
 *
 * Context: handler.  Does nothing in AGENT_QUIET.
 */
void sampling_wake(struct process *p);

#endif
