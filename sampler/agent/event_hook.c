/* event_hook.c - the functions of the agent that the hooks object calls through a table */
#include "sampler/agent/event_hook.h"

#include "sampler/agent/agent.h"
#include "sampler/handler/event.h"
#include "sampler/handler/process.h"
#include "sampler/handler/sys/clock.h"

static int take_event(enum hook_kind kind, uint64_t amount, uint64_t object, uint64_t extra,
		      const void *caller)
{
	struct event event = {
		.kind = kind,
		.amount = amount,
		.object = object,
		.extra = extra,
		.caller = (uint64_t)caller,
	};
	bool plain = false;
	int written;

	arch_here(&event.regs);
	written = (int)event_take(&event, &plain);
	return plain ? written | HOOK_PLAIN : written;
}

static int take_wait(const struct hook_wait *wait)
{
	struct event event = {
		.kind = HOOK_LOCK,
		.amount = wait->ns,
		.object = wait->lock,
		.extra = RECORD_LOCK_EXTRA(wait->kind, wait->n_waker, wait->waker_tid),
		.caller = (uint64_t)wait->caller,
		.tail = wait->waker_pcs,
		.n_tail = wait->n_waker,
	};
	bool plain;

	arch_here(&event.regs);
	return event_take(&event, &plain);
}

static uint32_t take_stack(const void *caller, uint64_t *ret_pcs, uint32_t max, uint32_t *ret_tid)
{
	struct event event = {.caller = (uint64_t)caller};

	arch_here(&event.regs);
	return event_stack(&event, ret_pcs, max, ret_tid);
}

static void live_full(void)
{
	struct process *p = handler_process;

	if (p && p->header)
		atomic_fetch_add_explicit(&p->header->live_full, 1, memory_order_relaxed);
}

static void take_arenas(uint64_t bytes, uint64_t free_bytes, uint64_t took_ns)
{
	struct process *p = handler_process;

	if (!p || !p->header)
		return;
	atomic_store_explicit(&p->header->arena_bytes, bytes, memory_order_relaxed);
	atomic_store_explicit(&p->header->arena_free_bytes, free_bytes, memory_order_relaxed);
	atomic_fetch_add_explicit(&p->header->arena_ns, took_ns, memory_order_relaxed);
}

static struct hook_table table = {
	.arenas = take_arenas,
	.event = take_event,
	.live_full = live_full,
	.now_ns = clock_now_ns,
	.wait = take_wait,
	.stack = take_stack,
};

void event_hooks_start(const struct ring_header *header)
{
	table.alloc_bytes = header->alloc_bytes;
	table.lock_ns = header->lock_ns;
	atomic_store_explicit(&table.watch, header->hooks, memory_order_release);
}

void event_hooks_settle(void)
{
	table.settled = 1;
}

/* The only exported name that is not interposed. */
AGENT_EXPORT const struct hook_table *wick_agent_hooks(void);

const struct hook_table *wick_agent_hooks(void)
{
	return &table;
}
