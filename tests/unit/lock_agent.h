/* lock_agent.h - the agent that the preloaded hooks find in a test, and threads that wait */
#ifndef UNIT_LOCK_AGENT_H
#define UNIT_LOCK_AGENT_H

#include "sampler/hooks/hook_table.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

enum { MOST_WAITS = 16 };

/* What the hooks told since lock_agent_clear(). */
extern struct hook_wait waits[MOST_WAITS];
extern _Atomic uint32_t n_waits;
extern _Atomic uint32_t n_stacks; /* how often an unlocking thread took its stack */

/* A thread that does one thing, and may be found to be blocked in it. */
struct worker {
	pthread_t thread;
	int (*run)(void *object);
	void *object;
	_Atomic pid_t tid;
	int result;
	int number; /* errno afterwards */
};

/**
 * lock_agent_clear - the setup of a test: forget all, tell every wait
 *
 * Context: main thread.
 */
int lock_agent_clear(void **state);

/**
 * lock_agent_tell - tell waits of so many ns and more from now on
 *
 * Context: main thread.
 */
void lock_agent_tell(uint64_t ns);

/**
 * lock_agent_freeze - the hooks' clock stands still from now on, and every wait is told
 *
 * Context: main thread.
 */
void lock_agent_freeze(void);

/**
 * begin - a thread that runs a function
 *
 * Context: main thread.
 */
void begin(struct worker *worker, int (*run)(void *), void *object);

/**
 * begin_to_wait - the same, and return when it sleeps in it
 *
 * Context: main thread.
 */
void begin_to_wait(struct worker *worker, int (*run)(void *), void *object);

/**
 * end - wait until the function has returned
 *
 * Return:  what it returned.
 * Context: main thread.
 */
int end(struct worker *worker);

/**
 * lock_and_unlock - a worker's function for a mutex
 *
 * Context: any thread.
 */
int lock_and_unlock(void *mutex);

/**
 * in_ms - a moment
 *
 * Context: any thread.
 */
struct timespec in_ms(clockid_t clock, long ms);

/**
 * assert_told - the Ith wait was for this lock, and this thread released it (0: unknown)
 *
 * Context: main thread.
 */
void assert_told(uint32_t i, enum lock_kind kind, const void *lock, pid_t waker);

#endif
