/* sampling.h - walks a stack straight into the thread's ring, and writes one sample with the
 * records that must precede it */
#ifndef HANDLER_SAMPLING_H
#define HANDLER_SAMPLING_H

#include "sampler/handler/memory.h"
#include "sampler/handler/slot.h"

/* Input and result of a walk. */
struct stack {
	uint64_t now_ns;
	uint32_t head_bytes; /* size of the record before its pcs */
	uint16_t n_pcs;
	uint8_t stop;   /* enum unwind_stop */
	bool guessed;   /* a frame had no CFI */
	uint64_t bytes; /* the outermost CFA minus sp */
};

/* One signal. */
struct tick {
	const ucontext_t *uc;
	uint64_t now_ns;
	uint32_t tid;
	uint32_t weight; /* 1 + overruns */
	uint16_t flags;  /* enum sample_flags */
};

/* A signal and its slot, in one struct so that the stack has no gap. */
struct signal_target {
	struct slot slot;
	struct tick tick;
};

/**
 * sampling_take - write the interrupted stack to the thread's ring, or count its loss
 *
 * The sample represents tick.weight times the slot's period_ns.
 *
 * Context: handler.  Between slot_enter() and slot_leave().
 */
void sampling_take(struct process *p, struct slot *slot, const struct tick *tick);

/**
 * sampling_tid - the tid of the calling thread, if possible without a system call
 *
 * The kernel sends a thread's timer signal to that thread. If sp is in the stack that the slot's
 * thread is known to have, it is that thread. Otherwise (a first sample, a coroutine) a system call
 * tells.
 *
 * Context: handler.
 */
uint32_t sampling_tid(struct process *p, const struct slot *slot, const struct tick *tick);

/**
 * sampling_name - write the name of the slot's thread, if it has changed
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

/**
 * stack_walk - reserve space for a record and walk the stack into its pcs
 * @memory: the caller's reader; memory->regs is where the walk begins
 *
 * Only records of modules seen for the first time are committed.
 *
 * Return:  the record with its pcs, without its head; NULL: the ring is full.
 * Owns:    the ring; write the head and commit.
 * Context: handler.  Between slot_enter() and slot_leave().
 */
void *stack_walk(struct process *p, struct slot *slot, struct memory *memory, struct stack *stack);

#endif
