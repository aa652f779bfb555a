/* stack.h - a walk straight into the ring, and the modules that must be announced before it */
#ifndef HANDLER_STACK_H
#define HANDLER_STACK_H

#include "sampler/handler/memory.h"

/* What is asked of a walk, and what it found. */
struct stack {
	uint64_t now_ns;
	uint32_t head_bytes; /* of the record, in front of its pcs */
	uint16_t n_pcs;
	uint8_t stop;   /* enum unwind_stop */
	bool guessed;   /* a frame had no CFI */
	uint64_t bytes; /* the outermost CFA minus sp */
};

/**
 * stack_walk - reserve room for a record and walk the stack into its pcs
 * @memory: the caller's room; memory->regs says where the walk begins
 *
 * Nothing of the record is committed but the modules that the walk met first.
 *
 * Return:  the record, its pcs written and its head not; NULL: no room in the ring.
 * Owns:    the ring; write the head and commit.
 * Context: handler.  Between slot_enter() and slot_leave().
 */
void *stack_walk(struct process *p, struct slot *slot, struct memory *memory, struct stack *stack);

#endif
