/* lock_agent.c - the agent that the preloaded hooks find in a test, and threads that wait */
#include "lock_agent.h"

#include "child_fixture.h"
#include "sampler/wire/ring.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

struct hook_wait waits[MOST_WAITS];
_Atomic uint32_t n_waits;
_Atomic uint32_t n_stacks;

static _Atomic bool frozen;

static uint64_t now_ns(void)
{
	struct timespec now;

	if (frozen)
		return 1;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int on_wait(const struct hook_wait *wait)
{
	uint32_t i = atomic_fetch_add(&n_waits, 1);

	if (i >= MOST_WAITS)
		return 0;
	waits[i] = *wait;
	return 1;
}

static uint32_t on_stack(const void *caller, uint64_t *ret_pcs, uint32_t max, uint32_t *ret_tid)
{
	(void)max;
	atomic_fetch_add(&n_stacks, 1);
	*ret_tid = (uint32_t)syscall(SYS_gettid);
	ret_pcs[0] = (uint64_t)(uintptr_t)caller;
	return 1;
}

static struct hook_table table = {
	.watch = RING_HOOK_LOCK,
	.settled = 1,
	.lock_ns = 1,
	.now_ns = now_ns,
	.wait = on_wait,
	.stack = on_stack,
};

__attribute__((visibility("default"))) const struct hook_table *wick_agent_hooks(void);

const struct hook_table *wick_agent_hooks(void)
{
	return &table;
}

int lock_agent_clear(void **state)
{
	(void)state;
	table.lock_ns = 1;
	frozen = false;
	atomic_store(&n_waits, 0);
	atomic_store(&n_stacks, 0);
	return 0;
}

void lock_agent_tell(uint64_t ns)
{
	table.lock_ns = ns;
}

void lock_agent_freeze(void)
{
	frozen = true;
	table.lock_ns = 0;
}

static void *work(void *data)
{
	struct worker *worker = data;

	atomic_store(&worker->tid, (pid_t)syscall(SYS_gettid));
	errno = 0;
	worker->result = worker->run(worker->object);
	worker->number = errno;
	return NULL;
}

void begin(struct worker *worker, int (*run)(void *), void *object)
{
	*worker = (struct worker){.run = run, .object = object};
	assert_int_equal(pthread_create(&worker->thread, NULL, work, worker), 0);
}

void begin_to_wait(struct worker *worker, int (*run)(void *), void *object)
{
	begin(worker, run, object);
	while (!atomic_load(&worker->tid) || thread_letter(getpid(), worker->tid) != 'S')
		sched_yield();
}

int end(struct worker *worker)
{
	assert_int_equal(pthread_join(worker->thread, NULL), 0);
	return worker->result;
}

struct timespec in_ms(clockid_t clock, long ms)
{
	struct timespec at;

	(void)clock_gettime(clock, &at);
	at.tv_nsec += ms * 1000000;
	at.tv_sec += at.tv_nsec / 1000000000;
	at.tv_nsec %= 1000000000;
	return at;
}

void assert_told(uint32_t i, enum lock_kind kind, const void *lock, pid_t waker)
{
	assert_in_range(i + 1, 1, atomic_load(&n_waits));
	assert_int_equal(waits[i].kind, kind);
	assert_int_equal(waits[i].lock, (uint64_t)(uintptr_t)lock);
	assert_int_equal(waits[i].waker_tid, waker);
	assert_int_equal(waits[i].n_waker, waker ? 1 : 0);
	assert_true(waits[i].ns > 0);
}

int lock_and_unlock(void *mutex)
{
	int r = pthread_mutex_lock(mutex);

	return r ? r : pthread_mutex_unlock(mutex);
}
