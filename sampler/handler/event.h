/* event.h - writes an event of a hook, with the stack of the call, to the thread's ring */
#ifndef HANDLER_EVENT_H
#define HANDLER_EVENT_H

#include "sampler/unwind/arch_x86_64.h"
#include "sampler/wire/record.h"

#include <stdbool.h>
#include <stdint.h>

struct event {
	enum hook_kind kind;
	uint64_t amount;
	uint64_t object;
	uint64_t extra;
	uint64_t caller; /* return address of the hook: the stack begins there; 0: at REGS */
	struct unwind_regs regs; /* registers of an agent's frame inside the hook */
	const uint64_t *tail;    /* N_TAIL pcs of another stack, appended to this one */
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
 * event_take - write an event to the calling thread's ring, or count its loss
 * @ret_plain: set when it was written: whether the stack is complete, found by CFI alone, and
 *             contains no signal handler
 *
 * The thread gets a slot if it has none. Does nothing in a process that is not sampled: a vfork
 * child, a raw fork, or one that was stopped. Without system calls (AGENT_NO_SYSCALLS) the thread
 * is not known, and the event counts as lost.
 *
 * Return:  whether it was written, and how full the ring is.
 * Context: handler.  Any thread; also inside malloc.
 */
enum event_written event_take(const struct event *event, bool *ret_plain);

/**
 * event_stack - the stack of the call, for an event that may be written later
 * @event:   only caller and regs count
 * @max:     how many of its innermost pcs are wanted
 * @ret_tid: the calling thread; set when there are any
 *
 * Modules seen for the first time are announced in the caller's ring.
 *
 * Return:  how many pcs; 0 where event_take() would write nothing.
 * Context: handler.  Any thread; also inside malloc.
 */
uint32_t event_stack(const struct event *event, uint64_t *ret_pcs, uint32_t max, uint32_t *ret_tid);

#endif
