/* on_sigprof.c - whose signal is it, whose slot, and what is due besides the sample */
#include "sampler/handler/on_sigprof.h"

#include "sampler/handler/clock.h"
#include "sampler/handler/install.h"
#include "sampler/handler/memory.h"
#include "sampler/handler/sampling.h"
#include "sampler/handler/timer.h"

#include "sampler/handler/sigsafe.h"

enum {
	JITTER_EVERY = 8,
	INTERRUPTED = -4, /* -EINTR */
};

void (*_Atomic handler_chain)(int sig, siginfo_t *info, void *uc);

static void count(_Atomic uint64_t *counter, uint64_t by)
{
	atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

static uint32_t weight_of(const siginfo_t *info)
{
	return 1 + (info->si_overrun > 0 ? (uint32_t)info->si_overrun : 0);
}

static bool syscall_at(uint64_t address)
{
	return memory_probe(address & ~UINT64_C(7)) &&
	       memory_probe((address + ARCH_ENTER_BYTES - 1) & ~UINT64_C(7)) &&
	       arch_enters_kernel((const unsigned char *)address);
}

/* A process timer's signal also goes to a sleeping thread when the running ones block it. */
static bool was_blocked(const ucontext_t *uc)
{
	uint64_t pc = arch_regs(uc).pc;

	return syscall_at(pc) ||
	       (arch_syscall_result(uc) == INTERRUPTED && syscall_at(pc - ARCH_ENTER_BYTES));
}

/* The collector found threads that use CPU and have no timer: the next handler arms them. */
static void arm_one_posted(struct process *p, uint32_t tid)
{
	struct slot slot;

	if (!tid || tid == RING_TID_DEAD)
		return;
	if (slot_find(p, tid, &slot) == 0) {
		if (timer_alive(&slot) || !slot_enter(&slot))
			return;
	} else if (slot_claim(p, tid, &slot) < 0) {
		return;
	}
	(void)timer_arm(p, &slot, tid, process_period_ns(p));
	slot_leave(&slot);
}

static void arm_posted(struct process *p)
{
	uint32_t seen = atomic_load_explicit(&p->n_posted, memory_order_relaxed);
	uint32_t posted = atomic_load_explicit(&p->header->n_posted, memory_order_acquire);

	if (posted == seen || process_is_paused(p) || !atomic_compare_exchange_strong(&p->n_posted, &seen, posted))
		return;
	if (posted - seen > RING_POSTED)
		seen = posted - RING_POSTED;
	for (; seen != posted; seen++)
		arm_one_posted(p, atomic_load_explicit(&p->header->posted[seen % RING_POSTED],
						       memory_order_relaxed));
}

static void sample(struct process *p, struct slot *slot, const struct tick *tick)
{
	sampling_take(p, slot, tick);
	count(&slot->ring->handler_ns, clock_now_ns() - tick->now_ns);
}

/*
 * Which thread this is, without a system call where it can be: the kernel sends a thread's timer to
 * that thread, and a pc whose sp lies in the stack that the slot's thread was proven to have is
 * that thread's.  Elsewhere (a first sample, a coroutine) the kernel is asked.
 */
static uint32_t whose(struct process *p, const struct slot *slot, const struct tick *tick)
{
	uint32_t tid = atomic_load_explicit(&p->header->tids[slot->index], memory_order_relaxed);
	uint64_t sp = arch_regs(tick->uc).sp;

	if (process_state(p) == AGENT_QUIET ||
	    (sp >= slot->own->window_lo && sp < slot->own->window_hi))
		return tid;
	return (uint32_t)sys0(__NR_gettid);
}

/* A sample stands for the period that ends with it, whatever the next one is to be. */
static void give_own(struct process *p, struct slot *slot, struct tick *tick)
{
	bool sampling = process_state(p) == AGENT_SAMPLING;
	bool changed = sampling && slot->own->epoch != process_epoch(p);

	if (process_is_paused(p)) {
		count(&p->header->n_signals, 1);
		if (sampling)
			timer_follow(p, slot);
		return;
	}
	if (sampling && !changed && slot->own->n_signals % JITTER_EVERY == 7 &&
	    timer_jitter(p, slot))
		tick->flags |= SAMPLE_JITTERED;
	tick->period_ns = slot->own->period_ns;
	sample(p, slot, tick);
	if (changed)
		timer_follow(p, slot);
}

static void on_own_timer(struct process *p, uint32_t index, struct tick *tick)
{
	struct slot slot;

	if (index >= p->max_slots || slot_at(p, index, &slot) < 0)
		return;
	tick->tid = whose(p, &slot, tick);
	if (atomic_load_explicit(&p->header->tids[index], memory_order_relaxed) != tick->tid) {
		count(&p->header->n_signals, 1);
		return;
	}
	if (!slot_enter(&slot)) {
		count(&p->header->lost_nested, tick->weight);
		return;
	}
	give_own(p, &slot, tick);
	slot_leave(&slot);
}

static void jitter_process(struct process *p)
{
	uint32_t n = atomic_fetch_add_explicit(&p->n_ticks, 1, memory_order_relaxed);

	if (n % JITTER_EVERY == JITTER_EVERY - 1)
		timer_jitter_process(p);
}

/* Finds or claims the slot of a thread that has no timer, and enters it. */
static bool enter_discovered(struct process *p, const struct tick *tick, struct slot *slot)
{
	bool known = slot_find(p, tick->tid, slot) == 0;

	if (known && timer_alive(slot)) {
		count(&p->header->n_signals, 1);
		return false;
	}
	if (was_blocked(tick->uc)) {
		count(&p->header->misdirected, tick->weight);
		return false;
	}
	if (known) {
		if (slot_enter(slot))
			return true;
		count(&p->header->lost_nested, tick->weight);
		return false;
	}
	if (slot_claim(p, tick->tid, slot) == 0)
		return true;
	count(&p->header->lost_noslot, tick->weight);
	return false;
}

/* The process timer: a thread that has no timer gives its first sample and gets one.  At
 * an even rate the first expiry is a full period away: this landing was the random start. */
static void on_process_timer(struct process *p, struct tick *tick)
{
	struct slot slot;

	if (process_state(p) != AGENT_SAMPLING) {
		count(&p->header->n_signals, 1);
		return;
	}
	tick->period_ns = timer_follow_process(p);
	if (process_is_paused(p)) {
		count(&p->header->n_signals, 1);
		return;
	}
	tick->tid = (uint32_t)sys0(__NR_gettid);
	tick->flags = SAMPLE_DISCOVERY;
	jitter_process(p);
	if (!enter_discovered(p, tick, &slot))
		return;
	(void)timer_arm(p, &slot, tick->tid,
			timer_first_ns(&slot, tick->period_ns, process_period_ns(p)));
	sample(p, &slot, tick);
	slot_leave(&slot);
}

static bool is_ours(const struct process *p, const siginfo_t *info)
{
	return p && p->header && info->si_code == SI_TIMER &&
	       (uint64_t)info->si_value.sival_ptr >> 32 == p->cookie;
}

void on_sigprof(int sig, siginfo_t *info, void *context)
{
	struct process *p = handler_process;
	struct tick tick = {.uc = context};
	uint32_t index;

	if (!is_ours(p, info)) {
		void (*chain)(int, siginfo_t *, void *) =
			atomic_load_explicit(&handler_chain, memory_order_acquire);

		if (chain)
			chain(sig, info, context);
		return;
	}
	if (process_state(p) != AGENT_SAMPLING && process_state(p) != AGENT_QUIET)
		return;
	index = (uint32_t)(uint64_t)info->si_value.sival_ptr;
	tick.weight = weight_of(info);
	tick.now_ns = clock_now_ns();
	if (index == PROCESS_TIMER_SLOT)
		on_process_timer(p, &tick);
	else
		on_own_timer(p, index, &tick);
	if (process_state(p) == AGENT_SAMPLING) {
		arm_posted(p);
		process_check(p, tick.now_ns);
	}
}
