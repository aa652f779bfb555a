/* stack.h - walks a stack straight into the ring, and announces new modules before it */
#ifndef HANDLER_STACK_H
#define HANDLER_STACK_H

#include "sampler/handler/memory.h"

/* Input and result of a walk. */
struct stack {
	uint64_t now_ns;
	uint32_t head_bytes; /* size of the record before its pcs */
	uint16_t n_pcs;
	uint8_t stop;   /* enum unwind_stop */
	bool guessed;   /* a frame had no CFI */
	uint64_t bytes; /* the outermost CFA minus sp */
};

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
