/* dlclose.c - interposes dlclose(): removes rules, pages and names of a module before it is
 * unmapped */
#include "sampler/agent/hooks.h"
#include "sampler/agent/start.h"
#include "sampler/handler/memory.h"
#include "sampler/handler/slot.h"
#include "sampler/handler/sys/clock.h"

AGENT_EXPORT int dlclose(void *handle);

/* Written to the caller's ring: a thread without a ring has no samples in the module, and samples
 * of other threads are dated by the modules announced after it. */
static void write_unmap(struct process *p)
{
	struct record_unmap *record;
	struct slot slot;

	if (slot_find(p, (uint32_t)sys0(__NR_gettid), &slot) < 0 || !slot_enter(&slot))
		return;
	record = ring_reserve(&slot, sizeof(*record));
	if (record) {
		*record = (struct record_unmap){
			.head = {.bytes = sizeof(*record), .type = RECORD_UNMAP},
			.time_ns = clock_now_ns(),
		};
		ring_commit(&slot, sizeof(*record));
	}
	slot_leave(&slot);
}

int dlclose(void *handle)
{
	__typeof__(&dlclose) next = NEXT(dlclose);
	struct process *p = process_is_self();
	int r;

	if (!next)
		return agent_set_errno(38 /* ENOSYS */);
	if (!p || process_state(p) == AGENT_NO_SYSCALLS)
		return next(handle);
	/* seq_cst: a handler that starts after this reads modules through the kernel. */
	atomic_fetch_add_explicit(&p->unloading, 1, memory_order_seq_cst);
	process_wait_handlers(p, (uint32_t)sys0(__NR_gettid));
	unwind_cache_flush(&p->rules);
	r = next(handle);
	unwind_cache_flush(&p->rules);
	modules_snapshot(p);
	modules_forget_gone(p);
	/* Pairs with the acquire of the collector, which then finds contexts again. */
	atomic_fetch_add_explicit(&p->header->unloads, 1, memory_order_release);
	atomic_fetch_sub_explicit(&p->unloading, 1, memory_order_seq_cst);
	write_unmap(p);
	return r;
}
