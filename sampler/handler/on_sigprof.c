/* on_sigprof.c - the signal handler: finds the source and the slot of a signal, takes a sample,
 * then checks the process */
#include "sampler/handler/on_sigprof.h"

#include "sampler/handler/memory.h"
#include "sampler/handler/nearly_idle.h"
#include "sampler/handler/on_event.h"
#include "sampler/handler/sys/clock.h"
#include "sampler/handler/timer.h"

#include <stdatomic.h>

#include "sampler/handler/sys/sigsafe.h"

uint32_t handler_signal;
uint64_t handler_min_altstack;
_Atomic bool handler_small_altstack;

int handler_install(int signal, bool onstack, struct sys_sigaction *ret_previous)
{
	/*
	 * SIGPROF itself stays unblocked. When a thread's timer and the process timer expire at one
	 * tick, the kernel delivers the thread's signal first. If SIGPROF were then blocked, the
	 * kernel would give the process's signal to another thread (retarget_shared_pending() in
	 * kernel/signal.c), whose epoll_wait would fail with EINTR.
	 */
	const struct sys_sigaction action = {
		.handler = on_sigprof,
		.flags = SA_SIGINFO | SA_RESTART | SA_NODEFER | SYS_SA_RESTORER |
			 (onstack ? SA_ONSTACK : 0UL),
		.restorer = handler_restorer,
		.mask = ~SYS_SIGBIT(signal),
	};

	handler_signal = (uint32_t)signal;
	return (int)sys4(__NR_rt_sigaction, signal, &action, ret_previous, 8);
}

/* Keeps an action that the program has installed meanwhile. */
static void stop_using_altstacks(void)
{
	struct sys_sigaction action;
	struct sys_sigaction was = {.handler = on_sigprof};

	if (sys4(__NR_rt_sigaction, handler_signal, NULL, &action, 8) < 0 ||
	    action.handler != on_sigprof)
		return;
	action.flags &= ~(unsigned long)SA_ONSTACK;
	(void)sys4(__NR_rt_sigaction, handler_signal, &action, &was, 8);
	if (was.handler != on_sigprof)
		(void)sys4(__NR_rt_sigaction, handler_signal, &was, NULL, 8);
}

bool handler_overflows(const ucontext_t *uc)
{
	uint64_t at = (uint64_t)uc - (uint64_t)uc->uc_stack.ss_sp;

	if ((uc->uc_stack.ss_flags & SS_DISABLE) || at >= uc->uc_stack.ss_size ||
	    uc->uc_stack.ss_size >= handler_min_altstack)
		return false;
	atomic_store_explicit(&handler_small_altstack, true, memory_order_relaxed);
	stop_using_altstacks();
	return true;
}

enum { JITTER_EVERY = 8 };

void (*_Atomic handler_chain)(int sig, siginfo_t *info, void *uc);

static void count(_Atomic uint64_t *counter, uint64_t by)
{
	atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

static uint32_t weight_of(const siginfo_t *info)
{
	return 1 + (info->si_overrun > 0 ? (uint32_t)info->si_overrun : 0);
}

/* The collector found threads that use CPU and have no timer: the next handler arms them. */
static void arm_one_posted(struct process *p, uint32_t tid)
{
	struct slot slot;

	if (!tid || tid == RING_TID_DEAD)
		return;
	if (slot_find(p, tid, &slot) == 0) {
		if (event_is_open(&slot) || timer_alive(&slot) || !slot_enter(&slot))
			return;
	} else if (slot_claim(p, tid, &slot) < 0) {
		return;
	}
	nearly_idle_arm(p, &slot, tid);
	slot_leave(&slot);
}

static void arm_posted(struct process *p)
{
	uint32_t seen = atomic_load_explicit(&p->n_posted, memory_order_relaxed);
	uint32_t posted = atomic_load_explicit(&p->header->n_posted, memory_order_acquire);

	if (posted == seen || process_is_paused(p) ||
	    !atomic_compare_exchange_strong(&p->n_posted, &seen, posted))
		return;
	if (posted - seen > RING_POSTED)
		seen = posted - RING_POSTED;
	for (; seen != posted; seen++)
		arm_one_posted(p, atomic_load_explicit(&p->header->posted[seen % RING_POSTED],
						       memory_order_relaxed));
}

static bool thread_timer_due(struct process *p, struct signal_target *at)
{
	bool sampling = process_state(p) == AGENT_SAMPLING;

	if (process_is_paused(p)) {
		count(&p->header->n_signals, 1);
		if (sampling)
			timer_follow(p, &at->slot);
		return false;
	}
	if (sampling && event_counts_caller(p, &at->slot))
		return event_tick(p, at);
	if (at->slot.own->event) {
		event_closed(p, &at->slot);
		return !sampling;
	}
	if (sampling && at->slot.own->epoch == process_epoch(p) &&
	    at->slot.own->n_signals % JITTER_EVERY == JITTER_EVERY - 1 &&
	    timer_jitter(p, &at->slot))
		at->tick.flags |= SAMPLE_JITTERED;
	return true;
}

/*
 * The signal came while its slot was being written: the next sample represents it, too. With an
 * event, its CPU time is sampled at the next tick.
 */
static void add_residual(struct process *p, struct slot *slot, uint32_t weight)
{
	if (process_is_paused(p))
		return;
	if (event_is_open(slot))
		count(&p->header->n_signals, 1);
	else
		atomic_fetch_add_explicit(&slot->own->residual, weight, memory_order_relaxed);
}

static bool thread_timer_target(struct process *p, uint32_t index, struct signal_target *at)
{
	struct slot *slot = &at->slot;

	if (index >= p->max_slots || slot_at(p, index, slot) < 0)
		return false;
	at->tick.tid = sampling_tid(p, slot, &at->tick);
	if (atomic_load_explicit(&p->header->tids[index], memory_order_relaxed) != at->tick.tid) {
		count(&p->header->n_signals, 1);
		return false;
	}
	if (!slot_enter(slot)) {
		add_residual(p, slot, at->tick.weight);
		return false;
	}
	if (thread_timer_due(p, at))
		return true;
	slot_leave(slot);
	return false;
}

static void jitter_process(struct process *p)
{
	uint32_t n = atomic_fetch_add_explicit(&p->n_ticks, 1, memory_order_relaxed);

	if (n % JITTER_EVERY == JITTER_EVERY - 1)
		timer_jitter_process(p);
}

/* Finds or claims, and enters, the slot of a thread without a timer. */
static bool enter_discovered(struct process *p, const struct tick *tick, uint64_t stood_for_ns,
			     struct slot *slot)
{
	bool known = slot_find(p, tick->tid, slot) == 0;

	if (known && (p->header->non_cpu_event || timer_alive(slot))) {
		count(&p->header->n_signals, 1);
		return false;
	}
	if (memory_was_blocked(tick->uc)) {
		nearly_idle_sampled(p, tick->weight * stood_for_ns);
		count(&p->header->spurious, tick->weight);
		return false;
	}
	if (known) {
		if (slot_enter(slot)) {
			nearly_idle_forget(slot);
			return true;
		}
		add_residual(p, slot, tick->weight);
		return false;
	}
	if (slot_claim(p, tick->tid, slot) == 0) {
		nearly_idle_inherit(p, slot, stood_for_ns);
		return true;
	}
	nearly_idle_sampled(p, tick->weight * stood_for_ns);
	count(&p->header->lost_noslot, tick->weight);
	return false;
}

/* Its timer, which a pause disarmed, is needed again. */
static bool process_tick(struct process *p, struct signal_target *at)
{
	if (!slot_enter(&at->slot))
		return false;
	if (event_tick(p, at)) {
		at->tick.flags &= (uint16_t)~SAMPLE_DISCOVERY;
		return true;
	}
	if (!timer_alive(&at->slot))
		event_closed(p, &at->slot); /* at the next tick it follows the event again */
	slot_leave(&at->slot);
	return false;
}

/* The process timer: samples a thread without a timer, and gives it one if it runs enough. */
static bool process_timer_target(struct process *p, struct signal_target *at)
{
	struct tick *tick = &at->tick;
	uint64_t stood_for_ns;

	if (process_state(p) != AGENT_SAMPLING) {
		count(&p->header->n_signals, 1);
		return false;
	}
	stood_for_ns = timer_follow_process(p);
	if (process_is_paused(p)) {
		count(&p->header->n_signals, 1);
		return false;
	}
	nearly_idle_add_cpu(p, tick->weight * stood_for_ns);
	tick->tid = (uint32_t)sys0(__NR_gettid);
	tick->flags = SAMPLE_DISCOVERY;
	jitter_process(p);
	if (slot_find(p, tick->tid, &at->slot) == 0 && event_counts_caller(p, &at->slot))
		return process_tick(p, at);
	if (!enter_discovered(p, tick, stood_for_ns, &at->slot))
		return false;
	at->slot.own->period_ns = stood_for_ns;
	if (!p->header->non_cpu_event)
		return true;
	slot_leave(&at->slot); /* a slot is all that the event needs */
	return false;
}

static bool is_ours(const struct process *p, const siginfo_t *info)
{
	return p && p->header && info->si_code == SI_TIMER &&
	       (uint64_t)info->si_value.sival_ptr >> 32 == p->cookie;
}

/* Finds the source of the signal. Return: whether a sample is due, in the slot that is entered. */
static __attribute__((noinline)) bool find_target(struct process *p, const siginfo_t *info,
						  struct signal_target *at)
{
	uint32_t index = (uint32_t)(uint64_t)info->si_value.sival_ptr;

	if (info->si_code != SI_TIMER)
		return event_target(p, info, at);
	at->tick.weight = weight_of(info);
	return index == PROCESS_TIMER_SLOT ? process_timer_target(p, at)
					   : thread_timer_target(p, index, at);
}

/* A sample represents the period that ends with it, whatever the next period is. */
static __attribute__((noinline)) void finish_sample(struct process *p, struct signal_target *at)
{
	struct slot *slot = &at->slot;

	count(&slot->ring->handler_ns, clock_now_ns() - at->tick.now_ns);
	if (at->tick.flags & SAMPLE_DISCOVERY)
		nearly_idle_settle(p, slot, &at->tick);
	else if (!(at->tick.flags & (SAMPLE_EVENT | SAMPLE_IN_KERNEL)) &&
		 process_state(p) == AGENT_SAMPLING && slot->own->epoch != process_epoch(p))
		timer_follow(p, slot);
	slot_leave(slot);
}

static __attribute__((noinline)) void check_process(struct process *p, uint64_t now_ns)
{
	if (process_state(p) != AGENT_SAMPLING)
		return;
	arm_posted(p);
	nearly_idle_sweep(p);
	process_check(p, now_ns);
}

/* Kept small: its frame is below the walk. Work before and after the walk is in calls that have
 * returned. */
void on_sigprof(int sig, siginfo_t *info, void *context)
{
	struct process *p = handler_process;
	struct signal_target at = {.tick.uc = context};

	if (!is_ours(p, info) && !event_is_ours(p, info)) {
		void (*chain)(int, siginfo_t *, void *) =
			atomic_load_explicit(&handler_chain, memory_order_acquire);

		if (chain)
			chain(sig, info, context);
		return;
	}
	if (process_state(p) != AGENT_SAMPLING && process_state(p) != AGENT_NO_SYSCALLS)
		return;
	if (process_state(p) == AGENT_SAMPLING && handler_overflows(context)) {
		count(&p->header->n_signals, 1);
		return;
	}
	at.tick.now_ns = clock_now_ns();
	if (find_target(p, info, &at)) {
		sampling_take(p, &at.slot, &at.tick);
		finish_sample(p, &at);
	}
	check_process(p, at.tick.now_ns);
}
