/*
 * lock_hooks.c - interposes lock functions: times waits, and records which thread releases a lock
 *
 * A free lock costs one read. libc's own functions do all the work, in the order in which they
 * would be called without wick.
 */
#include "sampler/hooks/cancel.h"
#include "sampler/hooks/hooks.h"
#include "sampler/hooks/lock_next.h"
#include "sampler/hooks/lock_wait.h"

#include <errno.h>

/* EOWNERDEAD: the previous owner of a robust mutex died; the caller has the lock. */
static bool acquired(int r)
{
	return r == 0 || r == EOWNERDEAD;
}

/* Only a hint: a thread that loses a race for a free mutex waits without being reported. */
static inline bool looks_free(const pthread_mutex_t *mutex)
{
	const volatile int *word =
		(const volatile void *)((const char *)mutex + lock_next.mutex_word);

	return *word == 0;
}

/* A recursive mutex of the caller's is no wait, nor is one whose owner died. */
static __attribute__((noinline)) int wait_for_mutex(pthread_mutex_t *mutex, const void *caller)
{
	struct lock_wait wait;
	int r = LOCK_NEXT(pthread_mutex_trylock)(mutex);

	if (r != EBUSY)
		return r;
	if (!lock_wait_begin(&wait, mutex, LOCK_MUTEX, caller))
		return LOCK_NEXT(pthread_mutex_lock)(mutex);
	r = LOCK_NEXT(pthread_mutex_lock)(mutex);
	lock_wait_end(&wait, acquired(r));
	return r;
}

HOOK_EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (looks_free(mutex))
		return LOCK_NEXT(pthread_mutex_lock)(mutex);
	return wait_for_mutex(mutex, HOOK_CALLER);
}

/* A separate function, so that the usual path needs no stack. */
static __attribute__((noinline)) int wake_and_unlock(pthread_mutex_t *mutex, const void *caller)
{
	lock_wake(mutex, caller);
	return LOCK_NEXT(pthread_mutex_unlock)(mutex);
}

HOOK_EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	if (waiters_may_wait(&lock_waiters, (uint64_t)mutex))
		return wake_and_unlock(mutex, HOOK_CALLER);
	return LOCK_NEXT(pthread_mutex_unlock)(mutex);
}

/*
 * The others are timed around one call of libc's function. libc checks their arguments (a clock, a
 * time) first, so nothing is tried before it.
 */
#define TIMED(lock, kind, call)                                                                    \
	({                                                                                         \
		struct lock_wait wait_;                                                            \
		bool watched_ = lock_wait_begin(&wait_, lock, kind, HOOK_CALLER);                  \
		int r_ = call;                                                                     \
                                                                                                   \
		if (watched_)                                                                      \
			lock_wait_end(&wait_, acquired(r_));                                       \
		r_;                                                                                \
	})

/* The same for cancellation points: then the registration has to be removed. */
#define TIMED_CANCELLABLE(lock, kind, call)                                                        \
	({                                                                                         \
		struct cancel_buffer buffer_;                                                      \
		struct lock_wait wait_;                                                            \
		bool watched_ = lock_wait_begin(&wait_, lock, kind, HOOK_CALLER);                  \
		int r_;                                                                            \
                                                                                                   \
		if (watched_)                                                                      \
			cancel_push(&buffer_, lock_wait_drop, &wait_);                             \
		r_ = call;                                                                         \
		if (watched_) {                                                                    \
			cancel_pop(&buffer_);                                                      \
			lock_wait_end(&wait_, r_ == 0);                                            \
		}                                                                                  \
		r_;                                                                                \
	})

HOOK_EXPORT int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
	return TIMED(mutex, LOCK_MUTEX, LOCK_NEXT(pthread_mutex_timedlock)(mutex, until));
}

HOOK_EXPORT int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
					const struct timespec *until)
{
	return TIMED(mutex, LOCK_MUTEX, LOCK_NEXT(pthread_mutex_clocklock)(mutex, clock, until));
}

HOOK_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	int r = LOCK_NEXT(pthread_rwlock_tryrdlock)(lock);

	if (r != EBUSY)
		return r;
	return TIMED(lock, LOCK_RWLOCK, LOCK_NEXT(pthread_rwlock_rdlock)(lock));
}

HOOK_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	int r = LOCK_NEXT(pthread_rwlock_trywrlock)(lock);

	if (r != EBUSY)
		return r;
	return TIMED(lock, LOCK_RWLOCK, LOCK_NEXT(pthread_rwlock_wrlock)(lock));
}

HOOK_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until)
{
	return TIMED(lock, LOCK_RWLOCK, LOCK_NEXT(pthread_rwlock_timedrdlock)(lock, until));
}

HOOK_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until)
{
	return TIMED(lock, LOCK_RWLOCK, LOCK_NEXT(pthread_rwlock_timedwrlock)(lock, until));
}

HOOK_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock,
					   const struct timespec *until)
{
	return TIMED(lock, LOCK_RWLOCK, LOCK_NEXT(pthread_rwlock_clockrdlock)(lock, clock, until));
}

HOOK_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock,
					   const struct timespec *until)
{
	return TIMED(lock, LOCK_RWLOCK, LOCK_NEXT(pthread_rwlock_clockwrlock)(lock, clock, until));
}

HOOK_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	lock_releasing(lock, HOOK_CALLER);
	return LOCK_NEXT(pthread_rwlock_unlock)(lock);
}

/* A wait for a condition releases the mutex, inside libc. */
HOOK_EXPORT int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	lock_releasing(mutex, HOOK_CALLER);
	return TIMED_CANCELLABLE(cond, LOCK_COND, LOCK_NEXT(pthread_cond_wait)(cond, mutex));
}

HOOK_EXPORT int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				       const struct timespec *until)
{
	lock_releasing(mutex, HOOK_CALLER);
	return TIMED_CANCELLABLE(cond, LOCK_COND,
				 LOCK_NEXT(pthread_cond_timedwait)(cond, mutex, until));
}

HOOK_EXPORT int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				       clockid_t clock, const struct timespec *until)
{
	lock_releasing(mutex, HOOK_CALLER);
	return TIMED_CANCELLABLE(cond, LOCK_COND,
				 LOCK_NEXT(pthread_cond_clockwait)(cond, mutex, clock, until));
}

HOOK_EXPORT int pthread_cond_signal(pthread_cond_t *cond)
{
	lock_releasing(cond, HOOK_CALLER);
	return LOCK_NEXT(pthread_cond_signal)(cond);
}

HOOK_EXPORT int pthread_cond_broadcast(pthread_cond_t *cond)
{
	lock_releasing(cond, HOOK_CALLER);
	return LOCK_NEXT(pthread_cond_broadcast)(cond);
}

/*
 * Reads the value instead of trying, because a cancelled thread must not decrement it. glibc and
 * musl both have the value in the low 31 bits.
 */
static bool is_available(const sem_t *sem)
{
	return *(const volatile unsigned *)(const void *)sem & INT32_MAX;
}

HOOK_EXPORT int sem_wait(sem_t *sem)
{
	if (is_available(sem))
		return LOCK_NEXT(sem_wait)(sem);
	return TIMED_CANCELLABLE(sem, LOCK_SEM, LOCK_NEXT(sem_wait)(sem));
}

HOOK_EXPORT int sem_timedwait(sem_t *sem, const struct timespec *until)
{
	if (is_available(sem))
		return LOCK_NEXT(sem_timedwait)(sem, until);
	return TIMED_CANCELLABLE(sem, LOCK_SEM, LOCK_NEXT(sem_timedwait)(sem, until));
}

HOOK_EXPORT int sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *until)
{
	if (is_available(sem))
		return LOCK_NEXT(sem_clockwait)(sem, clock, until);
	return TIMED_CANCELLABLE(sem, LOCK_SEM, LOCK_NEXT(sem_clockwait)(sem, clock, until));
}

HOOK_EXPORT int sem_post(sem_t *sem)
{
	lock_releasing(sem, HOOK_CALLER);
	return LOCK_NEXT(sem_post)(sem);
}
