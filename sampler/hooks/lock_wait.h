/* lock_wait.h - one wait for a lock: timed, told when it was long, with who let go */
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
 * lock_wait_start - find the agent, and have the waiters forgotten by fork children
 *
 * Context: agent.  The constructor.
 */
void lock_wait_start(void);

/**
 * lock_wait_begin - the calling thread is about to wait
 * @caller: return address of the hook: where the stack begins
 *
 * Return:  false when locks are not watched: there is no end to tell then.
 * Owns:    the caller: lock_wait_end() or, when the thread is cancelled, lock_wait_drop().
 * Context: agent.  Any thread, also in a signal handler.
 */
bool lock_wait_begin(struct lock_wait *wait, const void *lock, enum lock_kind kind,
		     const void *caller);

/**
 * lock_wait_end - the wait is over; tell it if it was long
 * @acquired: whether somebody let go of the lock, rather than the time being up
 *
 * errno stays as it was.
 *
 * Context: agent.  Any thread, also in a signal handler.
 */
void lock_wait_end(struct lock_wait *wait, bool acquired);

/**
 * lock_wait_drop - the wait will not end: the thread was cancelled; WAIT is a struct lock_wait
 *
 * Context: agent.  The thread that began it.
 */
void lock_wait_drop(void *wait);

/**
 * lock_wake - somebody waits for a lock that the calling thread is about to let go of
 *
 * Context: agent.  Any thread, also in a signal handler.
 */
void lock_wake(const void *lock, const void *caller);

/**
 * lock_releasing - lock_wake(), where somebody may be waiting
 *
 * Context: agent.  Any thread, also in a signal handler.
 */
static inline void lock_releasing(const void *lock, const void *caller)
{
	if (__builtin_expect(waiters_may_wait(&lock_waiters, (uint64_t)lock), 0))
		lock_wake(lock, caller);
}

#endif
