/*
 * waiters.h - a table of the locks with waiters, and of the threads that released them last
 *
 * A thread that releases a lock records its stack only if a waiter is registered for that lock, and
 * before it releases the lock. For a mutex, the thread that gets it reads the last record before
 * that, because the mutex itself excludes other threads.
 *
 * Context: handler, unless a function says otherwise.
 */
#ifndef HOOKS_WAITERS_H
#define HOOKS_WAITERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	WAITERS_FILTER = 2048, /* counters of waiters, by the hash of their lock */
	WAITERS_LOCKS = 256,   /* locks with waiters at the same time */
	WAITERS_PROBES = 8,    /* entries in which a lock may be */
	WAITERS_PCS = 24,
};

/* The thread that released a lock. */
struct waker {
	uint64_t lock;   /* 0: nothing was written */
	uint64_t thread; /* thread, caller, stack pointer and time: */
	uint64_t caller; /* for the writer, to recognize the same release again */
	uint64_t sp;
	uint64_t time_ns;
	uint32_t tid;   /* 0: unknown */
	uint32_t n_pcs; /* innermost first, return addresses */
	uint64_t pcs[WAITERS_PCS];
};

struct waiters_lock {
	_Atomic uint64_t waiters; /* the lock's address << 8 | number of waiters; 0: free */
	_Atomic uint32_t busy;    /* 1: the waker is being written or read */
	_Atomic uint32_t n_wakes; /* number of releases recorded, ever */
	struct waker waker;
};

/* Zeroed memory is an empty table. */
struct waiters {
	_Atomic uint16_t filter[WAITERS_FILTER];
	struct waiters_lock locks[WAITERS_LOCKS];
};

/* One thread's registration. */
struct waiter {
	uint64_t lock;
	struct waiters_lock *at; /* NULL: no entry was free; only the filter counts it */
	uint32_t n_wakes;        /* value of n_wakes when it registered */
};

/** waiters_hash - hash of a lock; its upper bits are the best */
static inline uint64_t waiters_hash(uint64_t lock)
{
	return lock * UINT64_C(0x9e3779b97f4a7c15);
}

/**
 * waiters_may_wait - whether a lock may have waiters
 *
 * One multiplication and one relaxed load are all that releasing a lock without waiters costs.
 * Wrong answers (two locks with one hash, or a thread that registers right now) cost a search, or
 * leave a waker unknown.
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
 * waiters_wake - the record of a lock that the caller is about to release
 * @probe: 0 for the first call, unchanged for the next
 *
 * The record still has what was written for the same lock before. A lock has more than one entry if
 * two first waiters registered at once, or if it has too many for one: call again, after
 * waiters_woken(), until it returns NULL.
 *
 * Return:  the record to fill in; NULL when there is no more; records that another thread writes
 *          are left out.
 * Owns:    the caller, until waiters_woken().
 * Context: handler.  Any number of threads.
 */
struct waker *waiters_wake(struct waiters *waiters, uint64_t lock, uint32_t *probe);

/** waiters_woken - release the record of waiters_wake(), which is filled in */
void waiters_woken(struct waker *waker);

/**
 * waiters_waker - the thread that released the lock since the caller registered
 *
 * Return:  true: the last one; false when it is unknown.
 * Context: handler.  Between waiters_add() and waiters_remove().
 */
bool waiters_waker(const struct waiter *waiter, struct waker *ret_waker);

#endif
