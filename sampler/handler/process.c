/* process.c - the state that all handlers of a process share, and how sampling stops */
#include "sampler/handler/process.h"

#include "sampler/handler/slot.h"
#include "sampler/handler/timer.h"

#include "sampler/handler/sys/sigsafe.h"

struct process *handler_process;

struct process *process_is_self(void)
{
	struct process *p = handler_process;

	if (!p || !p->header || process_forbids_syscalls(p) || p->pid != (int32_t)sys0(__NR_getpid))
		return NULL;
	return p;
}

uint64_t process_period_ns(struct process *p)
{
	uint64_t ns = atomic_load_explicit(&p->header->live_period_ns, memory_order_relaxed);

	if (!ns || ns > RECORD_MAX_PERIOD_NS)
		ns = p->period_ns;
	return process_is_paused(p) && ns < RING_PAUSED_NS ? RING_PAUSED_NS : ns;
}

void process_set_state(struct process *p, enum agent_state state)
{
	atomic_store_explicit(&p->state, (uint32_t)state, memory_order_seq_cst);
	atomic_store_explicit(&p->header->state, (uint32_t)state, memory_order_release);
}

void process_stop(struct process *p, enum agent_state state)
{
	uint32_t old = AGENT_SAMPLING;
	uint32_t n = atomic_load_explicit(&p->n_slots, memory_order_acquire);
	struct slot slot;

	if (!atomic_compare_exchange_strong(&p->state, &old, (uint32_t)state)) {
		if (old == AGENT_NO_SYSCALLS)
			process_set_state(p, state);
		return;
	}
	atomic_store_explicit(&p->header->state, (uint32_t)state, memory_order_release);
	timer_delete_id(p->timer);
	p->timer = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (slot_at(p, i, &slot) < 0)
			return;
		timer_delete_id(slot.own->timer);
		slot.own->timer = 0;
	}
}

static bool anyone_busy(struct process *p, uint32_t tid)
{
	uint32_t n = atomic_load_explicit(&p->n_slots, memory_order_acquire);
	struct slot slot;

	for (uint32_t i = 0; i < n; i++) {
		if (atomic_load_explicit(&p->header->tids[i], memory_order_relaxed) == tid ||
		    slot_at(p, i, &slot) < 0)
			continue;
		/* seq_cst: the other side is slot_enter(), which reads the state after it. */
		if (atomic_load_explicit(&slot.own->busy, memory_order_seq_cst))
			return true;
	}
	return false;
}

void process_wait_handlers(struct process *p, uint32_t tid)
{
	const struct sys_timespec ms = {.nsec = 1000000};

	for (int i = 0; i < 1000 && anyone_busy(p, tid); i++)
		arch_pause();
	for (int i = 0; i < 100 && anyone_busy(p, tid); i++)
		(void)sys2(__NR_nanosleep, &ms, NULL);
}

static bool drain_is_stale(struct process *p, uint64_t now_ns)
{
	uint64_t drained = atomic_load_explicit(&p->header->drained_ns, memory_order_relaxed);

	return drained && now_ns > drained &&
	       now_ns - drained > PROCESS_STALE_MS * UINT64_C(1000000);
}

void process_check(struct process *p, uint64_t now_ns)
{
	uint64_t since;

	if (atomic_load_explicit(&p->header->stop, memory_order_relaxed)) {
		process_stop(p, AGENT_STOPPED);
		return;
	}
	since = atomic_load_explicit(&p->stale_ns, memory_order_relaxed);
	if (!drain_is_stale(p, now_ns)) {
		if (since)
			atomic_store_explicit(&p->stale_ns, 0, memory_order_relaxed);
		return;
	}
	if (!since)
		atomic_store_explicit(&p->stale_ns, now_ns, memory_order_relaxed);
	else if (now_ns - since > PROCESS_RECHECK_MS * UINT64_C(1000000))
		process_stop(p, AGENT_STOPPED);
}
