/* waiters.h - which locks are waited for, and who let go of them last
 *
 * A thread that lets go of a lock writes its stack down only when somebody is registered for that
 * lock, and does it before it lets go: of a mutex, the one whom the lock lets in reads what was
 * written last before it came in, for the mutex itself keeps everybody else out.
 */
#ifndef HOOKS_WAITERS_H
#define HOOKS_WAITERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	WAITERS_FILTER = 2048, /* counters of waiters, by the hash of their lock */
	WAITERS_LOCKS = 256,   /* locks that are waited for at the same time */
	WAITERS_PROBES = 8,    /* places where a lock can stand */
	WAITERS_PCS = 24,
};

/* Who let go. */
struct waker {
	uint64_t lock;   /* 0: nothing was written */
	uint64_t thread; /* which, where from, how deep in the stack and when: */
	uint64_t caller; /* for the writer, to see whether it would write the same again */
	uint64_t sp;
	uint64_t time_ns;
	uint32_t tid;   /* 0: not known */
	uint32_t n_pcs; /* innermost first, return addresses */
	uint64_t pcs[WAITERS_PCS];
};

struct waiters_lock {
	_Atomic uint64_t waiters; /* the lock's address << 8 | how many wait; 0: free */
	_Atomic uint32_t busy;    /* the waker is being written or read */
	_Atomic uint32_t n_wakes; /* written, ever */
	struct waker waker;
};

/* Zero is an empty one. */
struct waiters {
	_Atomic uint16_t filter[WAITERS_FILTER];
	struct waiters_lock locks[WAITERS_LOCKS];
};

/* One thread's registration. */
struct waiter {
	uint64_t lock;
	struct waiters_lock *at; /* NULL: no place was free; only the filter counts it */
	uint32_t n_wakes;        /* when it registered */
};

/**
 * waiters_hash - where a lock stands: its upper bits are the best
 *
 * Context: handler.
 */
static inline uint64_t waiters_hash(uint64_t lock)
{
	return lock * UINT64_C(0x9e3779b97f4a7c15);
}

/**
 * waiters_may_wait - whether anybody may be waiting for a lock
 *
 * One multiplication and one relaxed load: this is all that letting go of a lock costs when
 * nobody waits.  Wrong answers (two locks of one hash; one who registers right now) cost a
 * search or a waker that stays unknown.
 *
 * Context: handler.
 */
static inline bool waiters_may_wait(const struct waiters *waiters, uint64_t lock)
{
	return atomic_load_explicit(&waiters->filter[waiters_hash(lock) >> 53],
				    memory_order_relaxed) != 0;
}

/**
 * waiters_add - register the calling thread for a lock that it is about to wait for
 *
 * Context: handler.  Any number of threads.
 */
struct waiter waiters_add(struct waiters *waiters, uint64_t lock);

/**
 * waiters_remove - end what waiters_add() began
 *
 * Does nothing in a fork child, where the table was wiped.
 *
 * Context: handler.  Any number of threads.
 */
void waiters_remove(struct waiters *waiters, const struct waiter *waiter);

/**
 * waiters_wake - where the caller, who is about to let go of a lock, writes who it is
 * @probe: 0 at first, for the next call as it is left
 *
 * What was written for the same lock before still stands there.  A lock has more than one place
 * when two who were the first to wait came at once, or too many for one: call it again, after
 * waiters_woken(), until there is no more.
 *
 * Return:  what to fill in; NULL when nobody else waits; places that another writes are left out.
 * Owns:    the caller, until waiters_woken().
 * Context: handler.  Any number of threads.
 */
struct waker *waiters_wake(struct waiters *waiters, uint64_t lock, uint32_t *probe);

/**
 * waiters_woken - what waiters_wake() gave is written, or holds again
 *
 * Context: handler.
 */
void waiters_woken(struct waker *waker);

/**
 * waiters_waker - who let go of the lock since the caller registered for it
 *
 * Return:  true: the last one; false when it is not known.
 * Context: handler.  Between waiters_add() and waiters_remove().
 */
bool waiters_waker(const struct waiter *waiter, struct waker *ret_waker);

#endif
