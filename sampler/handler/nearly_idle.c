/* nearly_idle.c - threads that use too little CPU for a timer of their own, and timers of ended
 * threads */
#include "sampler/handler/nearly_idle.h"

#include "sampler/handler/on_event.h"
#include "sampler/handler/sys/clock.h"
#include "sampler/handler/timer.h"

#include "sampler/handler/sys/sigsafe.h"

enum {
	NEARLY_IDLE_PART = 32, /* of a processor */
	SWEEP_SLOTS = 8,
	MAX_OF_ONE = 2, /* periods */
	MAX_KEPT = 64,  /* ended threads whose CPU time was not accounted yet */
	MAX_LATE_MS = 1000,
	NS_PER_MS = 1000000,
};

/* CPU time between two process-timer signals in one thread: its own, the process's, and wall time.
 */
struct between {
	uint64_t used_ns;
	uint64_t all_ns;
	uint64_t wall_ns;
};

/* NS * PART / WHOLE, without 128 bits, which would need a function call. */
static uint64_t part_of(uint64_t ns, uint64_t part, uint64_t whole)
{
	return part < whole ? (ns >> 10) * ((part << 10) / whole) : ns;
}

/* How long before this tick the timer expired, in CPU time of the thread. */
static uint64_t late_by(const struct process *p, const struct between *between, uint64_t period_ns)
{
	uint64_t left_ns = timer_process_left_ns(p);
	uint64_t late_ns = left_ns && left_ns < period_ns ? period_ns - left_ns : 0;

	return part_of(late_ns, between->wall_ns, between->all_ns);
}

/* The first expiry: as dense as the process timer's signals in this thread, counted from when this
 * one was due. */
static uint64_t first_ns(const struct process *p, struct slot *slot, const struct between *between,
			 uint64_t period_ns)
{
	uint64_t lattice_ns = part_of(period_ns, between->used_ns, between->all_ns);
	uint64_t first_ns = lattice_ns + timer_random_ns(slot, period_ns - lattice_ns);
	uint64_t late_ns = late_by(p, between, period_ns);

	if (first_ns > late_ns)
		return first_ns - late_ns;
	slot->own->extra++;
	return first_ns + period_ns - late_ns;
}

/* With perf events, or with hooks that see each thread end, this account is not needed. */
static bool keeps_account(const struct process *p)
{
	return p->discovery == DISCOVERY_TIMER && !event_is_possible(p);
}

/* The clock goes back if the tid now belongs to another thread. */
static bool is_known(struct process *p, const struct slot_own *own, uint64_t thread_ns)
{
	return own->hit_ns && thread_ns >= own->hit_thread_ns && own->epoch == process_epoch(p);
}

/* Return:  CPU time since its last signal; 0 for a thread older than the account. */
static uint64_t used_since(struct process *p, const struct slot_own *own, uint64_t thread_ns)
{
	if (is_known(p, own, thread_ns))
		return thread_ns - own->hit_thread_ns;
	return thread_ns <= clock_process_cpu_ns() - p->account_since_ns ? thread_ns : 0;
}

/* Adds whole periods without a sample to the thread's next sample: no more than the account holds.
 */
static void catch_up(struct process *p, struct slot_own *own, int64_t late_ns, uint64_t period_ns)
{
	int64_t left_ns = atomic_load_explicit(&p->account_ns, memory_order_relaxed);

	if (!keeps_account(p))
		return;
	late_ns = late_ns < left_ns ? late_ns : left_ns;
	if (late_ns > MAX_LATE_MS * (int64_t)NS_PER_MS)
		late_ns = MAX_LATE_MS * (int64_t)NS_PER_MS;
	if (late_ns > 0)
		own->extra += (uint32_t)((uint64_t)late_ns / period_ns);
}

void nearly_idle_settle(struct process *p, struct slot *slot, const struct tick *tick)
{
	struct slot_own *own = slot->own;
	uint64_t thread_ns = clock_thread_cpu_ns();
	uint64_t process_ns = clock_process_cpu_ns();
	const struct between between = {.used_ns = thread_ns - own->hit_thread_ns,
					.all_ns = process_ns - own->hit_process_ns,
					.wall_ns = tick->now_ns - own->hit_ns};
	bool again = is_known(p, own, thread_ns);
	uint64_t used_ns = used_since(p, own, thread_ns);

	if (!again)
		own->late_ns = 0;
	if (used_ns)
		own->late_ns += (int64_t)used_ns - (int64_t)(tick->weight * own->period_ns);
	/* A signal represents the old period; the next one is the first of the current period. */
	own->epoch = process_epoch(p);
	own->hit_thread_ns = thread_ns;
	own->hit_process_ns = process_ns;
	own->hit_ns = tick->now_ns;
	if (!again || between.used_ns < between.wall_ns / NEARLY_IDLE_PART)
		return;
	catch_up(p, own, own->late_ns, own->period_ns);
	(void)timer_arm(p, slot, tick->tid, first_ns(p, slot, &between, process_period_ns(p)));
}

void nearly_idle_arm(struct process *p, struct slot *slot, uint32_t tid)
{
	struct slot_own *own = slot->own;
	uint64_t period_ns = process_period_ns(p);
	uint64_t thread_ns = timer_cpu_ns(tid);
	int64_t late_ns = is_known(p, own, thread_ns) ? own->late_ns : 0;

	late_ns += (int64_t)used_since(p, own, thread_ns);
	catch_up(p, own, late_ns, period_ns);
	(void)timer_arm(p, slot, tid, timer_random_ns(slot, period_ns));
}

void nearly_idle_add_cpu(struct process *p, uint64_t ns)
{
	if (keeps_account(p))
		atomic_fetch_add_explicit(&p->account_ns, (int64_t)ns, memory_order_relaxed);
}

void nearly_idle_sampled(struct process *p, uint64_t ns)
{
	if (keeps_account(p))
		atomic_fetch_sub_explicit(&p->account_ns, (int64_t)ns, memory_order_relaxed);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Return:  how many ended threads N periods account for; what is not taken waits for the next. */
static uint32_t ended_of(uint64_t n)
{
	return (uint32_t)((n + MAX_OF_ONE - 1) / MAX_OF_ONE);
}

void nearly_idle_inherit(struct process *p, struct slot *slot, uint64_t period_ns)
{
	uint32_t ended;
	uint32_t kept;
	int64_t left_ns;
	uint64_t n;

	if (!keeps_account(p) || !atomic_load_explicit(&p->n_ended, memory_order_relaxed))
		return;
	ended = atomic_exchange_explicit(&p->n_ended, 0, memory_order_relaxed);
	left_ns = atomic_load_explicit(&p->account_ns, memory_order_relaxed);
	n = left_ns > 0 ? (uint64_t)left_ns / period_ns : 0;
	n = least(n, (uint64_t)ended * MAX_OF_ONE);
	slot->own->extra += (uint32_t)n;
	kept = ended - ended_of(n);
	atomic_fetch_add_explicit(&p->n_ended, (uint32_t)least(kept, MAX_KEPT),
				  memory_order_relaxed);
}

void nearly_idle_forget(struct slot *slot)
{
	timer_delete_id(slot->own->timer);
	slot->own->timer = 0;
	slot->own->window_lo = 0;
	slot->own->window_hi = 0;
	slot->own->no_window = 0;
	slot->own->n_signals = 0; /* its name is checked with this sample */
}

static void sweep_slot(struct process *p, uint32_t index)
{
	_Atomic uint32_t *tid = &p->header->tids[index];
	struct slot slot;

	if (atomic_load_explicit(tid, memory_order_acquire) != RING_TID_DEAD ||
	    slot_at(p, index, &slot) < 0 || !slot.own->timer || !slot_enter(&slot))
		return;
	/* A claim has to enter the slot first. */
	if (atomic_load_explicit(tid, memory_order_acquire) == RING_TID_DEAD)
		timer_delete_ended(p, &slot);
	slot_leave(&slot);
}

void nearly_idle_sweep(struct process *p)
{
	uint32_t n = atomic_load_explicit(&p->n_slots, memory_order_acquire);
	uint32_t at = atomic_fetch_add_explicit(&p->n_swept, SWEEP_SLOTS, memory_order_relaxed);

	for (uint32_t i = 0; i < SWEEP_SLOTS && i < n; i++)
		sweep_slot(p, (at + i) % n);
}
