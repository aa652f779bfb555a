/* on_event.c - the signal of a perf event, which the collector has opened for a thread */
#include "sampler/handler/on_event.h"

#include "sampler/handler/clock.h"
#include "sampler/handler/timer.h"

#include "sampler/handler/sigsafe.h"

enum {
	BAND_FIRST = 1,      /* POLL_IN, and what follows it in siginfo.h */
	BAND_LAST = 6,       /* POLL_HUP */
	EARLY_PART = 4,      /* of a period that a signal may be early */
	LATE_PERIODS = 2,    /* that no signal has come for: the thread may be in the kernel */
	AHEAD_PERIODS = 4,   /* that samples may have stood for too early */
	CHANGED_PERIODS = 2, /* of the longer one: more has passed in a pause */
};

bool event_is_ours(const struct process *p, const siginfo_t *info)
{
	return p && p->header && p->header->engine == RING_ENGINE_PERF &&
	       info->si_code >= BAND_FIRST && info->si_code <= BAND_LAST &&
	       (uint32_t)info->si_fd >= p->header->event_base;
}

static bool find(struct process *p, uint32_t fd, struct slot *ret_slot)
{
	uint32_t at = (fd - p->header->event_base) % RING_MAX_SLOTS;
	/* Relaxed: the slot's own word is what counts. */
	uint32_t slot = atomic_load_explicit(&p->header->event_slots[at], memory_order_relaxed);

	return slot && slot <= p->max_slots && slot_at(p, slot - 1, ret_slot) == 0 &&
	       atomic_load_explicit(&ret_slot->ring->event, memory_order_acquire) == fd + 1;
}

/* Where in a period the event found a thread that had no timer is not known. */
static void begin(struct slot_own *own, uint64_t cpu_ns, uint64_t period_ns)
{
	own->weighed_ns = cpu_ns - period_ns - (uint64_t)own->random % period_ns;
	own->period_ns = period_ns;
	own->ahead_ns = period_ns;
}

static uint64_t longer(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

/*
 * After a change of the rate; what is more than it can explain was used in a pause.  The first new
 * period ends at random, as a timer's does: else what is left at a thread's end, half a period on
 * average, would be missing.
 */
static void follow(struct process *p, struct slot *slot, uint64_t cpu_ns, uint64_t period_ns)
{
	struct slot_own *own = slot->own;
	uint32_t epoch = process_epoch(p);
	uint64_t old_ns = own->period_ns;
	int64_t used_ns = (int64_t)(cpu_ns - own->weighed_ns);

	if (own->epoch == epoch)
		return;
	own->epoch = epoch;
	own->ahead_ns = longer(longer(old_ns, period_ns), used_ns < 0 ? (uint64_t)-used_ns : 0);
	if (used_ns > (int64_t)(CHANGED_PERIODS * longer(old_ns, period_ns)))
		own->weighed_ns = cpu_ns - period_ns;
	else
		own->weighed_ns += timer_first_ns(slot, old_ns, period_ns) - period_ns;
}

/*
 * A signal may be late by most of a period and the next one on time: it stands for one period, and
 * what it saw of the next is that one's.  So no more than one is early, and none is two for being
 * late.
 */
static uint32_t whole_periods(int64_t used_ns, uint64_t period_ns)
{
	if (used_ns < (int64_t)(period_ns - period_ns / EARLY_PART))
		return 0;
	return (uint64_t)used_ns < period_ns ? 1 : (uint32_t)((uint64_t)used_ns / period_ns);
}

/* Return: how many whole periods the thread used since its samples so far. */
static uint32_t weigh(struct process *p, struct slot *slot)
{
	struct slot_own *own = slot->own;
	uint64_t period_ns = process_period_ns(p);
	uint64_t cpu_ns = clock_thread_cpu_ns();

	if (!own->weighed_ns)
		begin(own, cpu_ns, period_ns);
	follow(p, slot, cpu_ns, period_ns);
	own->period_ns = period_ns;
	return whole_periods((int64_t)(cpu_ns - own->weighed_ns), period_ns);
}

/* Without system calls a signal is a period. */
static bool due(struct process *p, struct landing *at)
{
	struct slot_own *own = at->slot.own;
	bool quiet = process_state(p) != AGENT_SAMPLING;

	if (own->timer && !quiet) {
		timer_delete_id(own->timer);
		own->timer = 0;
	}
	at->tick.weight = quiet || p->header->counted ? 1 : weigh(p, &at->slot);
	at->tick.flags = SAMPLE_EVENT;
	return at->tick.weight && !process_is_paused(p);
}

bool event_lands(struct process *p, const siginfo_t *info, struct landing *at)
{
	struct slot *slot = &at->slot;

	if (!find(p, (uint32_t)info->si_fd, slot))
		return false;
	at->tick.tid = sampling_tid(p, slot, &at->tick);
	if (atomic_load_explicit(&p->header->tids[slot->index], memory_order_relaxed) ==
		    at->tick.tid &&
	    slot_enter(slot)) {
		if (due(p, at))
			return true;
		slot_leave(slot);
	}
	/* What it stands for is in the next one's CPU. */
	atomic_fetch_add_explicit(&p->header->n_signals, 1, memory_order_relaxed);
	return false;
}

bool event_stands(const struct slot *slot)
{
	return atomic_load_explicit(&slot->ring->event, memory_order_relaxed) != 0;
}

/* A thread's clock never goes back. */
bool event_is_mine(struct process *p, const struct slot *slot)
{
	struct slot_own *own = slot->own;

	if (!event_stands(slot))
		return false;
	if (p->header->counted || !own->weighed_ns ||
	    (int64_t)(own->weighed_ns - clock_thread_cpu_ns()) <
		    (int64_t)(AHEAD_PERIODS * own->ahead_ns))
		return true;
	own->weighed_ns = 0;
	atomic_store_explicit(&slot->ring->event, 0, memory_order_relaxed);
	return false;
}

bool event_catches_up(struct process *p, struct landing *at)
{
	if (slot_enter(&at->slot)) {
		at->tick.weight = p->header->counted ? 0 : weigh(p, &at->slot);
		at->tick.flags = SAMPLE_EVENT;
		if (at->tick.weight >= LATE_PERIODS)
			return true;
		slot_leave(&at->slot);
	}
	atomic_fetch_add_explicit(&p->header->n_signals, 1, memory_order_relaxed);
	return false;
}
