/* on_event.c - handles the signal of a perf event that the collector opened for a thread */
#include "sampler/handler/on_event.h"

#include "sampler/handler/sys/clock.h"
#include "sampler/handler/timer.h"

#include "sampler/handler/sys/sigsafe.h"

enum {
	BAND_FIRST = 1,    /* POLL_IN, and what follows it in siginfo.h */
	BAND_LAST = 6,     /* POLL_HUP */
	EARLY_PART = 4,    /* part of a period that a signal may be early */
	AHEAD_PERIODS = 4, /* periods that samples may be ahead of the clock */
	MAX_PERIODS = 8,   /* periods or ticks without a sample */
};

/* Bounds for any kernel: CONFIG_HZ is 100 to 1000. */
#define SLOWEST_TICK_NS UINT64_C(10000000)
#define FASTEST_TICK_NS UINT64_C(1000000)

bool event_is_possible(const struct process *p)
{
	return atomic_load_explicit(&p->header->engine, memory_order_relaxed) == RING_ENGINE_PERF;
}

bool event_is_ours(const struct process *p, const siginfo_t *info)
{
	return p && p->header && event_is_possible(p) && info->si_code >= BAND_FIRST &&
	       info->si_code <= BAND_LAST && (uint32_t)info->si_fd >= p->header->event_base;
}

static bool find(struct process *p, uint32_t fd, struct slot *ret_slot)
{
	uint32_t at = (fd - p->header->event_base) % RING_MAX_SLOTS;
	/* Relaxed: the slot's own word decides. */
	uint32_t slot = atomic_load_explicit(&p->header->event_slots[at], memory_order_relaxed);

	return slot && slot <= p->max_slots && slot_at(p, slot - 1, ret_slot) == 0 &&
	       atomic_load_explicit(&ret_slot->ring->event, memory_order_acquire) == fd + 1;
}

/* The position in its period of a thread without a timer is not known. */
static void begin(struct slot_own *own, uint64_t cpu_ns, uint64_t period_ns)
{
	own->accounted_cpu_ns = cpu_ns - period_ns - (uint64_t)own->random % period_ns;
	own->ahead_ns = period_ns;
}

static uint64_t longer(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

/* After so much CPU time without a sample the next signal takes it, wherever that comes. */
static uint64_t max_residual_ns(uint64_t period_ns)
{
	return MAX_PERIODS * longer(period_ns, SLOWEST_TICK_NS);
}

/* The period of the timer of a thread with an event: it has to see each tick. */
static uint64_t tick_ns(uint64_t period_ns)
{
	return period_ns < FASTEST_TICK_NS ? period_ns : FASTEST_TICK_NS;
}

/*
 * After a change of the rate. The end of the last period and the start of the next one are random:
 * otherwise the residual at a thread's end, half a period on average, would be missing. A larger
 * residual than samples ever leave was used during a pause.
 */
static void follow_rate(struct process *p, struct slot *slot, uint64_t cpu_ns, uint64_t period_ns)
{
	struct slot_own *own = slot->own;
	uint64_t old_ns = own->period_ns;
	int64_t used_ns = (int64_t)(cpu_ns - own->accounted_cpu_ns);

	own->epoch = process_epoch(p);
	own->ahead_ns = longer(longer(old_ns, period_ns), used_ns < 0 ? (uint64_t)-used_ns : 0);
	if (used_ns > (int64_t)max_residual_ns(longer(old_ns, period_ns)))
		own->accounted_cpu_ns = cpu_ns - period_ns;
	else
		own->accounted_cpu_ns += timer_first_ns(slot, old_ns, period_ns) - period_ns;
	timer_restart(slot, tick_ns(period_ns));
}

/* Updates the account of the slot's thread. Return: its CPU clock. */
static uint64_t update(struct process *p, struct slot *slot)
{
	struct slot_own *own = slot->own;
	uint64_t period_ns = process_period_ns(p);
	uint64_t cpu_ns = clock_thread_cpu_ns();
	uint32_t event = atomic_load_explicit(&slot->ring->event, memory_order_relaxed);

	if (own->event != event) {
		own->event = event;
		own->event_cpu_ns = 0;
		own->ticked = false;
		timer_restart(slot, tick_ns(period_ns));
	}
	if (!own->accounted_cpu_ns)
		begin(own, cpu_ns, period_ns);
	if (own->epoch != process_epoch(p))
		follow_rate(p, slot, cpu_ns, period_ns);
	own->period_ns = period_ns;
	return cpu_ns;
}

/* A signal may be late by most of a period and the next one on time. */
static uint32_t whole_periods(int64_t used_ns, uint64_t period_ns)
{
	if (used_ns < (int64_t)(period_ns - period_ns / EARLY_PART))
		return 0;
	return (uint64_t)used_ns < period_ns ? 1 : (uint32_t)((uint64_t)used_ns / period_ns);
}

/* For a period that ended in user mode, and those whose signals came while the slot was being
 * written. */
static uint32_t user_weight(struct process *p, struct slot *slot)
{
	struct slot_own *own = slot->own;
	uint64_t cpu_ns = update(p, slot);
	int64_t used_ns = (int64_t)(cpu_ns - own->accounted_cpu_ns);
	uint32_t periods = whole_periods(used_ns, own->period_ns);
	uint32_t signals = 1 + atomic_exchange_explicit(&own->residual, 0, memory_order_relaxed);

	own->event_cpu_ns = cpu_ns;
	if (used_ns >= (int64_t)max_residual_ns(own->period_ns))
		return periods;
	return periods < signals ? periods : signals;
}

/* Whether most ticks since the last check were in the kernel; false at the first check. */
static bool ticked_in_kernel(struct slot_own *own)
{
	struct clock_ticks now = clock_thread_ticks();
	uint64_t user_ns = now.user_ns - own->ticks.user_ns;
	uint64_t kernel_ns = now.kernel_ns - own->ticks.kernel_ns;
	bool first = !own->ticked;

	own->ticks = now;
	own->ticked = true;
	return !first && kernel_ns > user_ns;
}

/*
 * At a tick. Periods that ended in the kernel sent no signal. Ticks interrupt a thread in the
 * kernel in proportion to the time there, so all CPU time since the last such tick is attributed to
 * where it is now.
 */
static uint32_t kernel_weight(struct process *p, struct slot *slot)
{
	struct slot_own *own = slot->own;
	uint64_t cpu_ns = update(p, slot);
	uint64_t period_ns = own->period_ns;
	int64_t used_ns = (int64_t)(cpu_ns - own->accounted_cpu_ns);
	uint64_t past_ns = own->event_cpu_ns ? (cpu_ns - own->event_cpu_ns) % period_ns : 0;
	bool in_kernel = ticked_in_kernel(own);

	if (used_ns >= (int64_t)max_residual_ns(period_ns))
		return (uint32_t)((uint64_t)used_ns / period_ns);
	/* The current period has not ended. */
	if (!in_kernel || used_ns < (int64_t)(period_ns + past_ns))
		return 0;
	return (uint32_t)(((uint64_t)used_ns - past_ns) / period_ns);
}

/* Without system calls each signal counts as one period. */
static bool due(struct process *p, struct signal_target *at)
{
	bool counts = process_state(p) != AGENT_SAMPLING || p->header->non_cpu_event;

	at->tick.weight = counts ? 1 : user_weight(p, &at->slot);
	at->tick.flags = SAMPLE_EVENT;
	return at->tick.weight && !process_is_paused(p);
}

bool event_target(struct process *p, const siginfo_t *info, struct signal_target *at)
{
	struct slot *slot = &at->slot;

	if (!find(p, (uint32_t)info->si_fd, slot))
		return false;
	at->tick.tid = sampling_tid(p, slot, &at->tick);
	if (atomic_load_explicit(&p->header->tids[slot->index], memory_order_relaxed) ==
	    at->tick.tid) {
		if (!slot_enter(slot)) {
			atomic_fetch_add_explicit(&slot->own->residual, 1, memory_order_relaxed);
			return false;
		}
		if (due(p, at))
			return true;
		slot_leave(slot);
	}
	/* The CPU time that it represents is part of a later sample. */
	atomic_fetch_add_explicit(&p->header->n_signals, 1, memory_order_relaxed);
	return false;
}

bool event_is_open(const struct slot *slot)
{
	return atomic_load_explicit(&slot->ring->event, memory_order_relaxed) != 0;
}

/* A thread's clock never goes back. */
bool event_counts_caller(struct process *p, const struct slot *slot)
{
	struct slot_own *own = slot->own;

	if (!event_is_open(slot))
		return false;
	if (p->header->non_cpu_event || !own->accounted_cpu_ns ||
	    (int64_t)(own->accounted_cpu_ns - clock_thread_cpu_ns()) <
		    (int64_t)(AHEAD_PERIODS * own->ahead_ns))
		return true;
	own->accounted_cpu_ns = 0;
	atomic_store_explicit(&slot->ring->event, 0, memory_order_relaxed);
	return false;
}

/* In AGENT_NO_SYSCALLS the timer cannot be set: it continues, and an expiry represents a tick. */
void event_closed(struct process *p, struct slot *slot)
{
	struct slot_own *own = slot->own;

	own->event = 0;
	if (process_state(p) != AGENT_SAMPLING) {
		own->period_ns = tick_ns(own->period_ns);
		return;
	}
	own->period_ns = process_period_ns(p);
	timer_restart(slot, own->period_ns);
}

/* The bounds of this object's code, from the linker. */
extern const char own_begin[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));
extern const char own_end[] __asm__("etext") __attribute__((visibility("hidden")));

/* Kernel time of another handler of wick is not the program's. */
static bool is_own(const ucontext_t *uc)
{
	uint64_t pc = arch_regs(uc).pc;

	return pc >= (uint64_t)own_begin && pc < (uint64_t)own_end;
}

bool event_tick(struct process *p, struct signal_target *at)
{
	bool counts = !p->header->non_cpu_event && !is_own(at->tick.uc);

	at->tick.weight = counts ? kernel_weight(p, &at->slot) : 0;
	at->tick.flags |= SAMPLE_IN_KERNEL;
	if (at->tick.weight)
		return true;
	atomic_fetch_add_explicit(&p->header->n_signals, 1, memory_order_relaxed);
	return false;
}
