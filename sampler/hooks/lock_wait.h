/*
 * lock_wait.h - times one wait for a lock, and reports a long one with the stack that released the
 * lock
 *
 * Context: agent. Any thread, also in a signal handler, unless a function says otherwise.
 */
#ifndef HOOKS_LOCK_WAIT_H
#define HOOKS_LOCK_WAIT_H

#include "sampler/hooks/waiters.h"
#include "sampler/wire/record.h"

#include <stdbool.h>
#include <stdint.h>

struct lock_wait {
	struct waiter waiter;
	enum lock_kind kind;
	const void *caller; /* of the hook */
	uint64_t begin_ns;
};

extern struct waiters lock_waiters;

/**
 * lock_wait_start - find the agent, and have fork wipe the table of waiters
 *
 * Context: agent.  The constructor.
 */
void lock_wait_start(void);

/**
 * lock_wait_begin - the calling thread is about to wait
 * @caller: return address of the hook: the stack begins there
 *
 * Return:  false when locks are not reported: do not call lock_wait_end().
 * Owns:    the caller: lock_wait_end() or, when the thread is cancelled, lock_wait_drop().
 */
bool lock_wait_begin(struct lock_wait *wait, const void *lock, enum lock_kind kind,
		     const void *caller);

/**
 * lock_wait_end - the wait has ended; report it if it was long
 * @acquired: whether the lock was released, rather than a timeout
 *
 * errno stays as it was.
 */
void lock_wait_end(struct lock_wait *wait, bool acquired);

/**
 * lock_wait_drop - forget a wait whose thread was cancelled; WAIT is a struct lock_wait
 *
 * Context: agent.  The thread that began it.
 */
void lock_wait_drop(void *wait);

/** lock_wake - record the calling thread, which is about to release a lock with waiters */
void lock_wake(const void *lock, const void *caller);

/** lock_releasing - lock_wake(), if there may be waiters */
static inline void lock_releasing(const void *lock, const void *caller)
{
	if (__builtin_expect(waiters_may_wait(&lock_waiters, (uint64_t)lock), 0))
		lock_wake(lock, caller);
}

#endif
