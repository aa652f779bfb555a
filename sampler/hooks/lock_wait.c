/* lock_wait.c - times one wait for a lock, and reports a long one with the stack that released the
 * lock */
#include "sampler/hooks/lock_wait.h"

#include "sampler/handler/sys/sys.h"
#include "sampler/hooks/hooks.h"
#include "sampler/wire/ring.h"

enum {
	WIPE_ON_FORK = 18, /* MADV_WIPEONFORK, Linux 4.14 */
	SAME_NS = 100000,
};

/* On pages of its own, which fork wipes: a child has none of the waiting threads. */
__attribute__((aligned(RING_PAGE))) struct waiters lock_waiters;

_Static_assert(sizeof(struct waiters) % RING_PAGE == 0, "madvise() wipes whole pages");

void lock_wait_start(void)
{
	if (hooks_table())
		(void)sys3(__NR_madvise, &lock_waiters, sizeof(lock_waiters), WIPE_ON_FORK);
}

/* Return:  the agent's table, if it wants events of locks. */
static const struct hook_table *watching(void)
{
	const struct hook_table *table = hooks_table();

	if (!table || !(atomic_load_explicit(&table->watch, memory_order_acquire) & RING_HOOK_LOCK))
		return NULL;
	return table;
}

bool lock_wait_begin(struct lock_wait *wait, const void *lock, enum lock_kind kind,
		     const void *caller)
{
	const struct hook_table *agent = watching();

	if (!agent)
		return false;
	wait->kind = kind;
	wait->caller = caller;
	wait->waiter = waiters_add(&lock_waiters, (uint64_t)lock);
	wait->begin_ns = agent->now_ns();
	return true;
}

static void report(const struct hook_table *agent, const struct lock_wait *wait, uint64_t ns,
		   bool acquired)
{
	struct waker waker;
	struct hook_wait report = {
		.lock = wait->waiter.lock,
		.kind = wait->kind,
		.ns = ns,
		.caller = wait->caller,
	};

	if (acquired && waiters_waker(&wait->waiter, &waker)) {
		report.waker_tid = waker.tid;
		report.waker_pcs = waker.pcs;
		report.n_waker = waker.n_pcs;
	}
	(void)agent->wait(&report);
}

void lock_wait_end(struct lock_wait *wait, bool acquired)
{
	const struct hook_table *agent = watching();
	uint64_t ns = agent ? agent->now_ns() - wait->begin_ns : 0;

	if (agent && ns >= agent->lock_ns)
		report(agent, wait, ns, acquired);
	waiters_remove(&lock_waiters, &wait->waiter);
}

void lock_wait_drop(void *wait)
{
	waiters_remove(&lock_waiters, &((struct lock_wait *)wait)->waiter);
}

/* A number for the thread that, unlike stacks and tids, is never reused. */
static uint64_t self(void)
{
	static __thread uint64_t number;
	static _Atomic uint64_t n_threads;

	if (!number)
		number = atomic_fetch_add_explicit(&n_threads, 1, memory_order_relaxed) + 1;
	return number;
}

/*
 * A thread that takes a lock repeatedly while others sleep releases it about a hundred times before
 * one of them gets it. From the same call at the same stack depth its walk is reused for this long.
 */
static void sign(struct waker *waker, const struct hook_table *agent, const void *caller)
{
	uint64_t sp = (uint64_t)__builtin_frame_address(0);
	uint64_t now_ns = agent->now_ns();

	if (waker->tid && waker->thread == self() && waker->caller == (uint64_t)caller &&
	    waker->sp == sp && now_ns - waker->time_ns < SAME_NS)
		return;
	waker->thread = self();
	waker->caller = (uint64_t)caller;
	waker->sp = sp;
	waker->time_ns = now_ns;
	waker->tid = 0;
	waker->n_pcs = agent->stack(caller, waker->pcs, WAITERS_PCS, &waker->tid);
}

void lock_wake(const void *lock, const void *caller)
{
	const struct hook_table *agent = watching();
	struct waker *waker;
	uint32_t probe = 0;

	if (!agent)
		return;
	while ((waker = waiters_wake(&lock_waiters, (uint64_t)lock, &probe))) {
		sign(waker, agent, caller);
		waiters_woken(waker);
	}
}
