/*
 * frame_depth.h - how far a function's frame register is above sp, by its code
 *
 * Compilers move sp by constants: a prologue, pushes of arguments, an epilogue.  So the code of
 * a function, read in its order, says the distance at every call.  Code that moves sp by
 * something else (alloca, arrays of variable length, loops that touch page by page) says so too.
 */
#ifndef REMOTE_FRAME_DEPTH_H
#define REMOTE_FRAME_DEPTH_H

#include "sampler/unwind/unwind.h"

#include <stdbool.h>
#include <stdint.h>

struct frame_depth {
	bool set_up;    /* the register is set from sp before PC */
	bool fixed;     /* all of the function was understood, and moves sp by constants */
	uint64_t body;  /* register - sp after the prologue, */
	uint64_t at_pc; /* and at PC */
	uint64_t slack; /* up to so much more, where sp was aligned after the register was set */
};

/* The code of one function. */
struct frame_code {
	uint64_t begin;
	uint64_t end;
	uint64_t pc;
	unsigned reg; /* ARCH_REG_BP or ARCH_REG_BX */
};

/**
 * frame_depth_read - read the code of a function
 *
 * A function of more than 256 KiB is not read.
 *
 * Return:  false when nothing can be said of PC.
 * Context: collector thread.
 */
bool frame_depth_read(struct unwind_reader *reader, const struct frame_code *function,
		      struct frame_depth *ret_depth);

#endif
