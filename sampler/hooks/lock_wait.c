/* lock_wait.c - one wait for a lock: timed, told when it was long, with who let go */
#include "sampler/hooks/lock_wait.h"

#include "sampler/handler/sys.h"
#include "sampler/hooks/hooks.h"
#include "sampler/wire/ring.h"

enum { WIPE_ON_FORK = 18 }; /* MADV_WIPEONFORK, Linux 4.14 */

/* On pages of its own: a fork child has none of the threads that wait here. */
__attribute__((aligned(RING_PAGE))) struct waiters lock_waiters;

_Static_assert(sizeof(struct waiters) % RING_PAGE == 0, "madvise() wipes whole pages");

void lock_wait_start(void)
{
	if (hooks_table())
		(void)sys3(__NR_madvise, &lock_waiters, sizeof(lock_waiters), WIPE_ON_FORK);
}

/* Return: the agent's table, when it wants to hear of locks. */
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
	wait->waiter = waiters_join(&lock_waiters, (uint64_t)lock);
	wait->begin_ns = agent->now_ns();
	return true;
}

static void tell(const struct hook_table *agent, const struct lock_wait *wait, uint64_t ns,
		 bool let_in)
{
	struct waker waker;
	struct hook_wait told = {
		.lock = wait->waiter.lock,
		.kind = wait->kind,
		.ns = ns,
		.caller = wait->caller,
	};

	if (let_in && waiters_waker(&wait->waiter, &waker)) {
		told.waker_tid = waker.tid;
		told.waker_pcs = waker.pcs;
		told.n_waker = waker.n_pcs;
	}
	(void)agent->wait(&told);
}

void lock_wait_end(struct lock_wait *wait, bool let_in)
{
	const struct hook_table *agent = watching();
	uint64_t ns = agent ? agent->now_ns() - wait->begin_ns : 0;

	if (agent && ns >= agent->lock_ns)
		tell(agent, wait, ns, let_in);
	waiters_leave(&lock_waiters, &wait->waiter);
}

void lock_wait_drop(void *wait)
{
	waiters_leave(&lock_waiters, &((struct lock_wait *)wait)->waiter);
}

void lock_wake(const void *lock, const void *caller)
{
	const struct hook_table *agent = watching();
	struct waker *waker;

	if (!agent)
		return;
	waker = waiters_wake(&lock_waiters, (uint64_t)lock);
	if (!waker)
		return;
	waker->n_pcs = agent->stack(caller, waker->pcs, WAITERS_PCS, &waker->tid);
	waiters_woken(waker);
}
