/* sampling.h - one sample: the walk, its record, and the records that must precede it */
#ifndef HANDLER_SAMPLING_H
#define HANDLER_SAMPLING_H

#include "sampler/handler/slot.h"

/* What the signal told. */
struct tick {
	const ucontext_t *uc;
	uint64_t now_ns;
	uint32_t tid;
	uint32_t weight; /* 1 + overruns */
	uint16_t flags;  /* enum sample_flags */
};

/* In one, which lies on the stack without gaps. */
struct signal_target {
	struct slot slot;
	struct tick tick;
};

/**
 * sampling_take - write the interrupted stack to the thread's ring, or count its loss
 *
 * It stands for tick.weight times the slot's period_ns.
 *
 * Context: handler.  Between slot_enter() and slot_leave().
 */
void sampling_take(struct process *p, struct slot *slot, const struct tick *tick);

/**
 * sampling_tid - which thread this is, without a system call where it can be
 *
 * The kernel sends a thread's timer to that thread, and a pc whose sp lies in the stack that the
 * slot's thread was proven to have is that thread's.  Elsewhere (a first sample, a coroutine) the
 * kernel is asked.
 *
 * Context: handler.
 */
uint32_t sampling_tid(struct process *p, const struct slot *slot, const struct tick *tick);

/**
 * sampling_name - write the name of the slot's thread, if it is not what was written last
 *
 * Context: handler.  Between slot_enter() and slot_leave(); not in AGENT_NO_SYSCALLS.
 */
void sampling_name(struct slot *slot, uint32_t tid, uint64_t now_ns);

/**
 * sampling_wake - wake the collector: a ring is filling up
 *
 * Context: handler.  Does nothing in AGENT_NO_SYSCALLS.
 */
void sampling_wake(struct process *p);

#endif
