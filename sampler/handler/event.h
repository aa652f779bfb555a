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
	const uint64_t *tail;    /* N_TAIL pcs of another stack, to stand behind this one's */
	uint32_t n_tail;         /* at most EVENT_MAX_TAIL */
};

enum { EVENT_MAX_TAIL = 64 };

enum event_written {
	EVENT_LOST = 0,
	EVENT_WRITTEN = 1,
	EVENT_HALF_FULL = 2,   /* written, and the ring is over half full */
	EVENT_NEARLY_FULL = 3, /* written, and less than a quarter is left */
};

/**
 * event_take - write it to the calling thread's ring, or count its loss
 * @ret_plain: set when it was written: whether its stack is whole, by CFI alone, and has no signal
 *             handler in it
 *
 * The thread gets a slot if it has none.  Does nothing in a process that is not sampled: a vfork
 * child, a raw fork, one that was told to stop.  Where no system call may be made
 * (AGENT_NO_SYSCALLS) the thread cannot be told, and the event counts as lost.
 *
 * Return:  whether it was written, and whether there should be fewer.
 * Context: handler.  Any thread; also inside malloc.
 */
enum event_written event_take(const struct event *event, bool *ret_plain);

/**
 * event_stack - the stack of the call for later, when it turns out to be part of an event
 * @event:   only caller and regs count
 * @max:     how many of its innermost pcs are wanted
 * @ret_tid: the calling thread; set when there are any
 *
 * Modules met first are announced in the caller's ring.
 *
 * Return:  how many pcs; 0 where event_take() would write nothing.
 * Context: handler.  Any thread; also inside malloc.
 */
uint32_t event_stack(const struct event *event, uint64_t *ret_pcs, uint32_t max, uint32_t *ret_tid);

#endif
