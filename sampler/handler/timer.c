/* timer.c - the CPU timers that send the sampling signal */
#include "sampler/handler/timer.h"

#include "sampler/handler/on_sigprof.h"
#include "sampler/handler/sys/clock.h"

#include "sampler/handler/sys/sigsafe.h"

enum {
	CLOCK_OF_PROCESS = 2, /* CLOCK_PROCESS_CPUTIME_ID */
	NOTIFY_SIGNAL = 0,
	NOTIFY_THREAD_ID = 4,
	NS_PER_S = 1000000000,
	MAX_TAKEN = 4, /* periods of the account that one thread takes */
};

/* The CPU clock of a thread: include/linux/posix-timers.h, CPUCLOCK_PERTHREAD | CPUCLOCK_SCHED. */
static int32_t clock_of_thread(uint32_t tid)
{
	return (int32_t)(~tid << 3 | 6);
}

static struct sys_timespec timespec_of(uint64_t ns)
{
	return (struct sys_timespec){.sec = (int64_t)(ns / NS_PER_S),
				     .nsec = (int64_t)(ns % NS_PER_S)};
}

static int set(int32_t id, uint64_t first_ns, uint64_t interval_ns)
{
	struct sys_itimerspec spec = {.interval = timespec_of(interval_ns),
				      .value = timespec_of(first_ns)};

	return (int)sys4(__NR_timer_settime, id, 0, &spec, 0);
}

static int create(int32_t clock, const struct sys_sigevent *event, uint64_t first_ns,
		  uint64_t interval_ns, int32_t *ret_id_plus_1)
{
	int32_t id = 0;
	int r;

	r = (int)sys3(__NR_timer_create, clock, event, &id);
	if (r < 0)
		return r;
	r = set(id, first_ns, interval_ns);
	if (r < 0) {
		timer_delete_id(id + 1);
		return r;
	}
	*ret_id_plus_1 = id + 1;
	return 0;
}

static int note(struct process *p, int r)
{
	if (r < 0)
		atomic_store_explicit(&p->header->agent_errno, (uint32_t)-r, memory_order_relaxed);
	return r;
}

uint64_t timer_cpu_ns(uint32_t tid)
{
	struct sys_timespec now = {0};

	(void)sys2(__NR_clock_gettime, clock_of_thread(tid), &now);
	return (uint64_t)now.sec * NS_PER_S + (uint64_t)now.nsec;
}

int timer_arm(struct process *p, struct slot *slot, uint32_t tid, uint64_t first_ns)
{
	struct sys_sigevent event = {
		.value = (uint64_t)p->cookie << 32 | slot->index,
		.signo = (int32_t)handler_signal,
		.notify = NOTIFY_THREAD_ID,
		.tid = (int32_t)tid,
	};

	timer_delete_id(slot->own->timer);
	slot->own->timer = 0;
	slot->own->epoch = process_epoch(p);
	slot->own->period_ns = process_period_ns(p);
	atomic_store_explicit(&slot->ring->armed, 1, memory_order_relaxed);
	if (p->header->non_cpu_event)
		return 0;
	slot->own->accounted_cpu_ns = timer_cpu_ns(tid) + first_ns - slot->own->period_ns;
	slot->own->ahead_ns = slot->own->period_ns;
	return note(p, create(clock_of_thread(tid), &event, first_ns, slot->own->period_ns,
			      &slot->own->timer));
}

int timer_arm_process(struct process *p, uint64_t first_ns)
{
	struct sys_sigevent event = {
		.value = (uint64_t)p->cookie << 32 | PROCESS_TIMER_SLOT,
		.signo = (int32_t)handler_signal,
		.notify = NOTIFY_SIGNAL,
	};

	uint64_t period_ns;

	atomic_store_explicit(&p->epoch, process_epoch(p), memory_order_relaxed);
	period_ns = process_period_ns(p);
	atomic_store_explicit(&p->timer_ns, period_ns, memory_order_relaxed);
	return note(p, create(CLOCK_OF_PROCESS, &event, first_ns, period_ns, &p->timer));
}

static uint64_t remaining(int32_t id_plus_1)
{
	struct sys_itimerspec spec = {0};

	if (!id_plus_1 || sys2(__NR_timer_gettime, id_plus_1 - 1, &spec) < 0)
		return 0;
	return (uint64_t)spec.value.sec * NS_PER_S + (uint64_t)spec.value.nsec;
}

uint64_t timer_process_left_ns(const struct process *p)
{
	return remaining(p->timer);
}

bool timer_alive(const struct slot *slot)
{
	return remaining(slot->own->timer) > 0;
}

static uint32_t xorshift(uint32_t *state)
{
	uint32_t x = *state;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	*state = x;
	return x;
}

static bool move(struct process *p, int32_t id_plus_1, uint64_t period_ns, uint32_t random)
{
	uint64_t span = period_ns * p->jitter_pct / 100;
	uint64_t left = remaining(id_plus_1);
	int64_t by;

	if (!span || !left)
		return false;
	by = (int64_t)(random % (2 * span + 1)) - (int64_t)span;
	if ((int64_t)left + by <= 0)
		return false;
	return set(id_plus_1 - 1, (uint64_t)((int64_t)left + by), period_ns) == 0;
}

bool timer_jitter(struct process *p, struct slot *slot)
{
	return move(p, slot->own->timer, slot->own->period_ns, xorshift(&slot->own->random));
}

void timer_jitter_process(struct process *p)
{
	uint32_t random = atomic_load_explicit(&p->n_ticks, memory_order_relaxed) * 2654435761U | 1;

	if (atomic_exchange_explicit(&p->jittering, 1, memory_order_acquire))
		return;
	(void)move(p, p->timer, atomic_load_explicit(&p->timer_ns, memory_order_relaxed),
		   xorshift(&random));
	atomic_store_explicit(&p->jittering, 0, memory_order_release);
}

/* Restarts the accounts of a thread: CPU time so far is sampled, or is not to be. */
static void restart_account(struct slot_own *own, uint64_t late_ns)
{
	uint64_t expired_ns;

	if (!own->armed_cpu_ns && !own->accounted_cpu_ns)
		return;
	expired_ns = clock_thread_cpu_ns() - late_ns;
	if (own->accounted_cpu_ns)
		own->accounted_cpu_ns = expired_ns;
	if (!own->armed_cpu_ns)
		return;
	own->armed_cpu_ns = expired_ns;
	own->sampled_ns = 0;
}

static uint64_t random_ns(uint32_t *state, uint64_t most_ns)
{
	return ((most_ns >> 10) * xorshift(state) >> 22) + 1;
}

uint64_t timer_random_ns(struct slot *slot, uint64_t most_ns)
{
	return random_ns(&slot->own->random, most_ns);
}

/* Return:  periods taken; negative if samples of ended threads represent more than they used. */
static int64_t take_periods(struct process *p, int64_t period_ns)
{
	int64_t account_ns = atomic_load_explicit(&p->account_ns, memory_order_relaxed);
	int64_t periods;

	do {
		periods = account_ns / period_ns;
		periods = periods < -1 ? -1 : periods > MAX_TAKEN ? MAX_TAKEN : periods;
	} while (periods && !atomic_compare_exchange_weak(&p->account_ns, &account_ns,
							  account_ns - periods * period_ns));
	return periods;
}

uint64_t timer_take_account(struct process *p, struct slot *slot)
{
	uint64_t period_ns = process_period_ns(p);
	/* The period of a pause is not that of the samples after it. */
	int64_t periods = process_is_paused(p) ? 0 : take_periods(p, (int64_t)period_ns);
	uint64_t offset_ns = timer_random_ns(slot, period_ns);

	slot->own->armed_cpu_ns = clock_thread_cpu_ns();
	slot->own->sampled_ns = -periods * (int64_t)period_ns;
	if (periods <= 0)
		return offset_ns - (uint64_t)periods * period_ns;
	slot->own->extra = (uint32_t)periods - 1;
	return 1;
}

/* After a change of the rate that the thread's timer has not seen, its residual is unknown. */
void timer_return_account(struct process *p, struct slot *slot)
{
	struct slot_own *own = slot->own;
	int64_t used_ns = (int64_t)(clock_thread_cpu_ns() - own->armed_cpu_ns);

	if (!process_is_paused(p) && own->epoch == process_epoch(p))
		atomic_fetch_add_explicit(&p->account_ns, used_ns - (int64_t)own->sampled_ns,
					  memory_order_relaxed);
	own->armed_cpu_ns = 0;
}

/* CPU time since the expiry of this signal: the kernel checks timers at its tick. */
static uint64_t late_by(const struct slot_own *own)
{
	uint64_t left = remaining(own->timer);

	return left && left < own->period_ns ? own->period_ns - left : 0;
}

uint64_t timer_first_ns(struct slot *slot, uint64_t old_ns, uint64_t new_ns)
{
	if (old_ns == new_ns)
		return new_ns;
	return timer_random_ns(slot, old_ns) + timer_random_ns(slot, new_ns);
}

void timer_follow(struct process *p, struct slot *slot)
{
	struct slot_own *own = slot->own;
	uint32_t epoch = process_epoch(p);
	bool paused = process_is_paused(p);
	uint64_t period_ns = process_period_ns(p);
	uint64_t late_ns = paused ? 0 : late_by(own);
	uint64_t first_ns;

	restart_account(own, late_ns);
	if (own->epoch == epoch || !own->timer)
		return;
	own->epoch = epoch;
	if (paused && p->discovery == DISCOVERY_TIMER) {
		(void)set(own->timer - 1, 0, 0);
		return;
	}
	if (period_ns == own->period_ns)
		return;
	first_ns = timer_first_ns(slot, own->period_ns, period_ns);
	own->period_ns = period_ns;
	if (own->armed_cpu_ns)
		own->armed_cpu_ns += first_ns - period_ns;
	if (late_ns >= first_ns) {
		own->extra += 1 + (uint32_t)((late_ns - first_ns) / period_ns);
		first_ns += (late_ns - first_ns) / period_ns * period_ns + period_ns;
	}
	if (own->accounted_cpu_ns)
		own->accounted_cpu_ns += first_ns - period_ns;
	(void)set(own->timer - 1, first_ns - late_ns, period_ns);
}

void timer_restart(struct slot *slot, uint64_t period_ns)
{
	if (slot->own->timer)
		(void)set(slot->own->timer - 1, period_ns, period_ns);
}

/* As timer_first_ns(), counted from the expiry of this signal. */
static uint64_t process_first_ns(const struct process *p, uint64_t old_ns, uint64_t new_ns)
{
	uint64_t left_ns = remaining(p->timer);
	uint64_t late_ns = left_ns && left_ns < old_ns ? old_ns - left_ns : 0;
	uint32_t random = ((uint32_t)left_ns ^ p->cookie) * 2654435761U | 1;
	uint64_t first_ns = random_ns(&random, old_ns) + random_ns(&random, new_ns);

	return first_ns > late_ns ? first_ns - late_ns : 1;
}

uint64_t timer_follow_process(struct process *p)
{
	uint64_t old_ns = atomic_load_explicit(&p->timer_ns, memory_order_relaxed);
	uint32_t epoch = process_epoch(p);
	uint64_t period_ns = process_period_ns(p);

	if (atomic_load_explicit(&p->epoch, memory_order_relaxed) == epoch || !p->timer ||
	    atomic_exchange_explicit(&p->jittering, 1, memory_order_acquire))
		return old_ns;
	atomic_store_explicit(&p->epoch, epoch, memory_order_relaxed);
	atomic_store_explicit(&p->account_ns, 0, memory_order_relaxed);
	atomic_store_explicit(&p->n_ended, 0, memory_order_relaxed);
	p->account_since_ns = clock_process_cpu_ns();
	if (period_ns != old_ns) {
		atomic_store_explicit(&p->timer_ns, period_ns, memory_order_relaxed);
		(void)set(p->timer - 1, process_first_ns(p, old_ns, period_ns), period_ns);
	}
	atomic_store_explicit(&p->jittering, 0, memory_order_release);
	return old_ns;
}

void timer_delete_ended(struct process *p, const struct slot *slot)
{
	if (!slot->own->timer)
		return;
	timer_delete_id(slot->own->timer);
	slot->own->timer = 0;
	atomic_fetch_add_explicit(&p->n_ended, 1, memory_order_relaxed);
}

void timer_delete_id(int32_t id_plus_1)
{
	if (id_plus_1)
		(void)sys1(__NR_timer_delete, id_plus_1 - 1);
}
