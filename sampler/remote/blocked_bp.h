/*
 * blocked_bp.h - a register that a frame is left by and that nobody has told
 *
 * A frame whose CFA is counted from rbp (or rbx) can be left once that register is known.  The
 * stack holds many words that could be its frame: leftovers of calls that have returned look
 * like frames too.  What is taken has to be where the function's own code puts it, or be the
 * one frame there that was entered by a call of this very function.
 */
#ifndef REMOTE_BLOCKED_BP_H
#define REMOTE_BLOCKED_BP_H

#include "sampler/remote/remote.h"

/* A frame that cannot be left. */
struct blocked_frame {
	uint64_t pc;
	uint64_t sp;
	bool exact;   /* interrupted at pc; else pc is a return address */
	unsigned reg; /* ARCH_REG_BP or ARCH_REG_BX: what its CFA needs */
};

/**
 * blocked_recover - what the register was in a frame
 *
 * Return:  false when it cannot be told for sure.
 * Context: collector thread.
 */
bool blocked_recover(struct remote *remote, const struct blocked_frame *frame, uint64_t *ret_value);

#endif
