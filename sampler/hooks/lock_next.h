/* lock_next.h - libc's own lock functions, which lock_hooks.c interposes */
#ifndef HOOKS_LOCK_NEXT_H
#define HOOKS_LOCK_NEXT_H

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <time.h>

/* Function, parameters, arguments; each returns an int. */
#define LOCK_FUNCTIONS(X)                                                                          \
	X(pthread_mutex_lock, (pthread_mutex_t * m), (m))                                          \
	X(pthread_mutex_trylock, (pthread_mutex_t * m), (m))                                       \
	X(pthread_mutex_timedlock, (pthread_mutex_t * m, const struct timespec *t), (m, t))        \
	X(pthread_mutex_clocklock, (pthread_mutex_t * m, clockid_t c, const struct timespec *t),   \
	  (m, c, t))                                                                               \
	X(pthread_mutex_unlock, (pthread_mutex_t * m), (m))                                        \
	X(pthread_rwlock_rdlock, (pthread_rwlock_t * l), (l))                                      \
	X(pthread_rwlock_tryrdlock, (pthread_rwlock_t * l), (l))                                   \
	X(pthread_rwlock_timedrdlock, (pthread_rwlock_t * l, const struct timespec *t), (l, t))    \
	X(pthread_rwlock_clockrdlock,                                                              \
	  (pthread_rwlock_t * l, clockid_t c, const struct timespec *t), (l, c, t))                \
	X(pthread_rwlock_wrlock, (pthread_rwlock_t * l), (l))                                      \
	X(pthread_rwlock_trywrlock, (pthread_rwlock_t * l), (l))                                   \
	X(pthread_rwlock_timedwrlock, (pthread_rwlock_t * l, const struct timespec *t), (l, t))    \
	X(pthread_rwlock_clockwrlock,                                                              \
	  (pthread_rwlock_t * l, clockid_t c, const struct timespec *t), (l, c, t))                \
	X(pthread_rwlock_unlock, (pthread_rwlock_t * l), (l))                                      \
	X(pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t * m), (c, m))                    \
	X(pthread_cond_timedwait,                                                                  \
	  (pthread_cond_t * c, pthread_mutex_t * m, const struct timespec *t), (c, m, t))          \
	X(pthread_cond_clockwait,                                                                  \
	  (pthread_cond_t * c, pthread_mutex_t * m, clockid_t k, const struct timespec *t),        \
	  (c, m, k, t))                                                                            \
	X(pthread_cond_signal, (pthread_cond_t * c), (c))                                          \
	X(pthread_cond_broadcast, (pthread_cond_t * c), (c))                                       \
	X(sem_wait, (sem_t * s), (s))                                                              \
	X(sem_timedwait, (sem_t * s, const struct timespec *t), (s, t))                            \
	X(sem_clockwait, (sem_t * s, clockid_t c, const struct timespec *t), (s, c, t))            \
	X(sem_post, (sem_t * s), (s))

/*
 * A constructor that runs before ours may use locks: each pointer starts as a function that looks
 * up all of them and then calls the real one.
 */
struct lock_next {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): it declares */
#define LOCK_NEXT_FIELD(name, parameters, arguments) int(*name) parameters;
	LOCK_FUNCTIONS(LOCK_NEXT_FIELD)
#undef LOCK_NEXT_FIELD
	uint64_t mutex_word; /* offset in a mutex of an int that is 0 while it is free */
};

extern struct lock_next lock_next;

/* All threads that look them up write the same values. */
#define LOCK_NEXT(name) __atomic_load_n(&lock_next.name, __ATOMIC_RELAXED)

/**
 * lock_next_find - look up every function now
 *
 * dlsym() is unsafe in signal handlers, and clears the error that the program's dlerror() would
 * return.
 *
 * Context: agent. The constructor, or the first lock before it.
 */
void lock_next_find(void);

#endif
