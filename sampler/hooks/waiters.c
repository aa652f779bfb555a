/* waiters.c - a table of the locks with waiters, and of the threads that released them last */
#include "sampler/hooks/waiters.h"

#include <stddef.h>

enum {
	COUNT_BITS = 8,
	MAX_WAITERS = (1 << COUNT_BITS) - 1,
	FILTER_SHIFT = 64 - 11,
	LOCKS_SHIFT = 64 - 19, /* other bits of the hash than the filter's */
	PATIENCE = 1000,       /* tries to acquire a waker that another thread uses */
};

_Static_assert(WAITERS_FILTER == 1 << 11, "waiters_may_wait() shifts by 53");
_Static_assert(WAITERS_LOCKS == 1 << 8, "LOCKS_SHIFT");

static _Atomic uint16_t *filter_of(struct waiters *waiters, uint64_t lock)
{
	return &waiters->filter[waiters_hash(lock) >> FILTER_SHIFT];
}

static struct waiters_lock *place(struct waiters *waiters, uint64_t lock, uint32_t probe)
{
	uint64_t at = (waiters_hash(lock) >> LOCKS_SHIFT) + probe;

	return &waiters->locks[at % WAITERS_LOCKS];
}

static uint64_t lock_of(struct waiters_lock *at)
{
	return atomic_load_explicit(&at->waiters, memory_order_acquire) >> COUNT_BITS;
}

/* Counts one more waiter, if the entry is LOCK's (or free, with FRESH). */
static bool add_waiter(struct waiters_lock *at, uint64_t lock, bool fresh)
{
	uint64_t old = atomic_load_explicit(&at->waiters, memory_order_relaxed);
	uint64_t one_more;

	do {
		if (fresh ? old != 0
			  : old >> COUNT_BITS != lock || (old & MAX_WAITERS) == MAX_WAITERS)
			return false;
		one_more = fresh ? lock << COUNT_BITS | 1 : old + 1;
		/* Acquire: writes for the entry's previous lock have ended. */
	} while (!atomic_compare_exchange_weak_explicit(
		&at->waiters, &old, one_more, memory_order_acq_rel, memory_order_relaxed));
	return true;
}

static struct waiters_lock *find_place(struct waiters *waiters, uint64_t lock, bool fresh)
{
	for (uint32_t i = 0; i < WAITERS_PROBES; i++) {
		struct waiters_lock *at = place(waiters, lock, i);

		if (add_waiter(at, lock, fresh))
			return at;
	}
	return NULL;
}

struct waiter waiters_add(struct waiters *waiters, uint64_t lock)
{
	struct waiter waiter = {.lock = lock, .at = find_place(waiters, lock, false)};

	if (!waiter.at)
		waiter.at = find_place(waiters, lock, true);
	if (waiter.at)
		waiter.n_wakes = atomic_load_explicit(&waiter.at->n_wakes, memory_order_relaxed);
	/* Last: a thread that sees the filter finds the entry. seq_cst: before the lock itself is
	 * tried. */
	atomic_fetch_add_explicit(filter_of(waiters, lock), 1, memory_order_seq_cst);
	return waiter;
}

static void remove_from_filter(_Atomic uint16_t *count)
{
	uint16_t old = atomic_load_explicit(count, memory_order_relaxed);

	while (old &&
	       !atomic_compare_exchange_weak_explicit(count, &old, (uint16_t)(old - 1),
						      memory_order_relaxed, memory_order_relaxed))
		;
}

void waiters_remove(struct waiters *waiters, const struct waiter *waiter)
{
	uint64_t old;
	uint64_t one_less;

	remove_from_filter(filter_of(waiters, waiter->lock));
	if (!waiter->at)
		return;
	old = atomic_load_explicit(&waiter->at->waiters, memory_order_relaxed);
	do {
		if (old >> COUNT_BITS != waiter->lock)
			return;
		one_less = (old & MAX_WAITERS) > 1 ? old - 1 : 0;
	} while (!atomic_compare_exchange_weak_explicit(
		&waiter->at->waiters, &old, one_less, memory_order_release, memory_order_relaxed));
}

static bool acquire(struct waiters_lock *at)
{
	return !atomic_exchange_explicit(&at->busy, 1, memory_order_acquire);
}

static void release(struct waiters_lock *at)
{
	atomic_store_explicit(&at->busy, 0, memory_order_release);
}

struct waker *waiters_wake(struct waiters *waiters, uint64_t lock, uint32_t *probe)
{
	while (*probe < WAITERS_PROBES) {
		struct waiters_lock *at = place(waiters, lock, (*probe)++);

		if (lock_of(at) != lock || !acquire(at))
			continue;
		if (at->waker.lock != lock) {
			at->waker.lock = lock;
			at->waker.tid = 0;
			at->waker.n_pcs = 0;
		}
		return &at->waker;
	}
	return NULL;
}

void waiters_woken(struct waker *waker)
{
	struct waiters_lock *at =
		(void *)((unsigned char *)waker - offsetof(struct waiters_lock, waker));

	atomic_fetch_add_explicit(&at->n_wakes, 1, memory_order_relaxed);
	release(at);
}

/* memcpy() is not available here. */
static void copy(struct waker *to, const struct waker *from)
{
	to->lock = from->lock;
	to->tid = from->tid;
	to->n_pcs = from->n_pcs < WAITERS_PCS ? from->n_pcs : WAITERS_PCS;
	for (uint32_t i = 0; i < to->n_pcs; i++)
		to->pcs[i] = from->pcs[i];
}

bool waiters_waker(const struct waiter *waiter, struct waker *ret_waker)
{
	struct waiters_lock *at = waiter->at;
	bool known;

	if (!at)
		return false;
	/* Another thread is releasing a semaphore or a reader's lock right now. */
	for (int i = 0; !acquire(at); i++) {
		if (i == PATIENCE)
			return false;
		__builtin_ia32_pause();
	}
	known = at->waker.lock == waiter->lock && at->waker.tid != 0 &&
		atomic_load_explicit(&at->n_wakes, memory_order_relaxed) != waiter->n_wakes;
	if (known)
		copy(ret_waker, &at->waker);
	release(at);
	return known;
}
