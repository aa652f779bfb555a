/* event.h - what a hook saw, with the stack of the call, into the thread's ring */
#ifndef HANDLER_EVENT_H
#define HANDLER_EVENT_H

#include "sampler/unwind/arch.h"
#include "sampler/wire/record.h"

#include <stdbool.h>
#include <stdint.h>

struct event {
	enum hook_kind kind;
	uint64_t amount;
	uint64_t object;
	uint64_t extra;
	uint64_t caller; /* return address of the hook: the stack begins there; 0: at REGS */
	struct unwind_regs regs; /* of a frame of ours inside the hook */
};

/**
 * event_take - write it to the calling thread's ring, or count its loss
 *
 * The thread gets a slot if it has none.  Does nothing in a process that is not sampled: a vfork
 * child, a raw fork, one that was told to stop.  Where no system call may be made (AGENT_QUIET) the
 * thread cannot be told, and the event counts as lost.
 *
 * Return:  whether it was written.
 * Context: handler.  Any thread; also inside malloc.
 */
bool event_take(const struct event *event);

#endif
