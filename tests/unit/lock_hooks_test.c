/* lock_hooks_test.c - mutexes and rwlocks behave under the hooks as without them; waits are told */
#include "lock_agent.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static void init(pthread_mutex_t *mutex, int type, int robust, int protocol)
{
	pthread_mutexattr_t attr;

	assert_int_equal(pthread_mutexattr_init(&attr), 0);
	assert_int_equal(pthread_mutexattr_settype(&attr, type), 0);
	assert_int_equal(pthread_mutexattr_setrobust(&attr, robust), 0);
	assert_int_equal(pthread_mutexattr_setprotocol(&attr, protocol), 0);
	assert_int_equal(pthread_mutex_init(mutex, &attr), 0);
	assert_int_equal(pthread_mutexattr_destroy(&attr), 0);
}

static int lock_and_keep(void *mutex)
{
	return pthread_mutex_lock(mutex);
}

static void a_free_mutex_is_not_told(void **state)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(lock_and_unlock(&mutex), 0);
	assert_int_equal(n_waits, 0);
	assert_int_equal(n_stacks, 0);
}

static void a_waiting_thread_learns_its_waker(void **state)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	struct worker worker;

	(void)state;
	assert_int_equal(pthread_mutex_lock(&mutex), 0);
	begin_to_wait(&worker, lock_and_unlock, &mutex);
	assert_int_equal(pthread_mutex_unlock(&mutex), 0);
	assert_int_equal(end(&worker), 0);
	assert_int_equal(n_waits, 1);
	assert_told(0, LOCK_MUTEX, &mutex, getpid());
}

static void short_waits_are_not_told(void **state)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	struct worker worker;

	(void)state;
	lock_agent_tell(UINT64_C(3600000000000));
	assert_int_equal(pthread_mutex_lock(&mutex), 0);
	begin_to_wait(&worker, lock_and_unlock, &mutex);
	assert_int_equal(pthread_mutex_unlock(&mutex), 0);
	assert_int_equal(end(&worker), 0);
	assert_int_equal(n_waits, 0);
}

static void a_recursive_mutex_is_taken_again_without_a_wait(void **state)
{
	pthread_mutex_t mutex;
	struct worker worker;

	(void)state;
	init(&mutex, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
	assert_int_equal(pthread_mutex_lock(&mutex), 0);
	assert_int_equal(pthread_mutex_lock(&mutex), 0);
	assert_int_equal(n_waits, 0);
	begin_to_wait(&worker, lock_and_unlock, &mutex);
	assert_int_equal(pthread_mutex_unlock(&mutex), 0);
	assert_int_equal(n_waits, 0);
	assert_int_equal(pthread_mutex_unlock(&mutex), 0);
	assert_int_equal(end(&worker), 0);
	assert_told(0, LOCK_MUTEX, &mutex, getpid());
	assert_int_equal(pthread_mutex_unlock(&mutex), EPERM);
}

static void an_errorcheck_mutex_still_checks(void **state)
{
	pthread_mutex_t mutex;

	(void)state;
	init(&mutex, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
	assert_int_equal(pthread_mutex_unlock(&mutex), EPERM);
	assert_int_equal(pthread_mutex_lock(&mutex), 0);
	assert_int_equal(pthread_mutex_lock(&mutex), EDEADLK);
	assert_int_equal(pthread_mutex_unlock(&mutex), 0);
	assert_int_equal(pthread_mutex_unlock(&mutex), EPERM);
}

static void a_robust_mutex_tells_of_its_dead_owner(void **state)
{
	pthread_mutex_t mutex;
	struct worker worker;

	(void)state;
	init(&mutex, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
	begin(&worker, lock_and_keep, &mutex);
	assert_int_equal(end(&worker), 0);
	assert_int_equal(pthread_mutex_lock(&mutex), EOWNERDEAD);
	assert_int_equal(pthread_mutex_consistent(&mutex), 0);
	assert_int_equal(pthread_mutex_unlock(&mutex), 0);
	begin(&worker, lock_and_keep, &mutex);
	assert_int_equal(end(&worker), 0);
	assert_int_equal(pthread_mutex_lock(&mutex), EOWNERDEAD);
	assert_int_equal(pthread_mutex_unlock(&mutex), 0);
	assert_int_equal(pthread_mutex_lock(&mutex), ENOTRECOVERABLE);
	assert_int_equal(n_waits, 0);
}

static int sleep_with_it(void *mutex)
{
	const struct timespec pause = {.tv_nsec = 50000000};
	int r = pthread_mutex_lock(mutex);

	(void)nanosleep(&pause, NULL);
	return r;
}

static void a_wait_for_a_dead_owner_has_no_waker(void **state)
{
	pthread_mutex_t mutex;
	struct worker worker;

	(void)state;
	init(&mutex, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
	begin_to_wait(&worker, sleep_with_it, &mutex);
	assert_int_equal(pthread_mutex_lock(&mutex), EOWNERDEAD);
	assert_int_equal(end(&worker), 0);
	assert_told(0, LOCK_MUTEX, &mutex, 0);
	assert_int_equal(pthread_mutex_consistent(&mutex), 0);
	assert_int_equal(pthread_mutex_unlock(&mutex), 0);
}

static void a_mutex_that_inherits_priority_is_told_too(void **state)
{
	pthread_mutex_t mutex;
	struct worker worker;

	(void)state;
	init(&mutex, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT);
	assert_int_equal(pthread_mutex_lock(&mutex), 0);
	begin_to_wait(&worker, lock_and_unlock, &mutex);
	assert_int_equal(pthread_mutex_unlock(&mutex), 0);
	assert_int_equal(end(&worker), 0);
	assert_told(0, LOCK_MUTEX, &mutex, getpid());
}

static int lock_until(void *mutex)
{
	const struct timespec at = in_ms(CLOCK_REALTIME, 30);

	return pthread_mutex_timedlock(mutex, &at);
}

static int lock_by_clock(void *mutex)
{
	const struct timespec at = in_ms(CLOCK_MONOTONIC, 30);

	return pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &at);
}

static void a_timed_lock_times_out(void **state)
{
	int (*const ways[])(void *) = {lock_until, lock_by_clock};
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	struct worker worker;

	(void)state;
	assert_int_equal(pthread_mutex_lock(&mutex), 0);
	for (uint32_t way = 0; way < 2; way++) {
		uint64_t longest_ns = 0;

		/* A worker that is preempted before it waits has less of its 30 ms left. */
		for (int tries = 0; tries < 5 && longest_ns < 29000000; tries++) {
			begin(&worker, ways[way], &mutex);
			assert_int_equal(end(&worker), ETIMEDOUT);
			assert_told(n_waits - 1, LOCK_MUTEX, &mutex, 0);
			longest_ns = waits[n_waits - 1].ns;
		}
		assert_in_range(longest_ns, 29000000, 2000000000);
	}
	assert_int_equal(pthread_mutex_unlock(&mutex), 0);
	assert_int_equal(n_stacks, 0);
}

static void what_is_wrong_is_found_out_by_libc(void **state)
{
	const struct timespec bad = {.tv_nsec = -1};
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

	(void)state;
	assert_int_equal(pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &bad), EINVAL);
	assert_int_equal(pthread_rwlock_timedrdlock(&lock, &bad), EINVAL);
	assert_int_equal(pthread_rwlock_timedwrlock(&lock, &bad), EINVAL);
	assert_int_equal(pthread_rwlock_clockrdlock(&lock, CLOCK_PROCESS_CPUTIME_ID, &bad), EINVAL);
}

static int read_and_release(void *lock)
{
	int r = pthread_rwlock_rdlock(lock);

	return r ? r : pthread_rwlock_unlock(lock);
}

static int write_and_release(void *lock)
{
	int r = pthread_rwlock_wrlock(lock);

	return r ? r : pthread_rwlock_unlock(lock);
}

static int write_until(void *lock)
{
	const struct timespec at = in_ms(CLOCK_REALTIME, 30);

	return pthread_rwlock_timedwrlock(lock, &at);
}

static void readers_do_not_wait_for_each_other(void **state)
{
	pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
	struct worker worker;

	(void)state;
	assert_int_equal(pthread_rwlock_rdlock(&lock), 0);
	begin(&worker, read_and_release, &lock);
	assert_int_equal(end(&worker), 0);
	assert_int_equal(n_waits, 0);
	assert_int_equal(pthread_rwlock_unlock(&lock), 0);
}

static void readers_and_writers_wait_for_each_other(void **state)
{
	pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
	struct worker worker;

	(void)state;
	assert_int_equal(pthread_rwlock_rdlock(&lock), 0);
	begin_to_wait(&worker, write_and_release, &lock);
	assert_int_equal(pthread_rwlock_unlock(&lock), 0);
	assert_int_equal(end(&worker), 0);
	assert_told(0, LOCK_RWLOCK, &lock, getpid());
	assert_int_equal(pthread_rwlock_wrlock(&lock), 0);
	assert_int_equal(pthread_rwlock_wrlock(&lock), EDEADLK);
	assert_int_equal(pthread_rwlock_rdlock(&lock), EDEADLK);
	atomic_store(&n_waits, 0);
	begin_to_wait(&worker, read_and_release, &lock);
	assert_int_equal(pthread_rwlock_unlock(&lock), 0);
	assert_int_equal(end(&worker), 0);
	assert_told(0, LOCK_RWLOCK, &lock, getpid());
	assert_int_equal(pthread_rwlock_rdlock(&lock), 0);
	begin(&worker, write_until, &lock);
	assert_int_equal(end(&worker), ETIMEDOUT);
	assert_told(1, LOCK_RWLOCK, &lock, 0);
	assert_int_equal(pthread_rwlock_unlock(&lock), 0);
}

#define TEST(name) cmocka_unit_test_setup(name, lock_agent_clear)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_free_mutex_is_not_told),
		TEST(a_waiting_thread_learns_its_waker),
		TEST(short_waits_are_not_told),
		TEST(a_recursive_mutex_is_taken_again_without_a_wait),
		TEST(an_errorcheck_mutex_still_checks),
		TEST(a_robust_mutex_tells_of_its_dead_owner),
		TEST(a_wait_for_a_dead_owner_has_no_waker),
		TEST(a_mutex_that_inherits_priority_is_told_too),
		TEST(a_timed_lock_times_out),
		TEST(what_is_wrong_is_found_out_by_libc),
		TEST(readers_do_not_wait_for_each_other),
		TEST(readers_and_writers_wait_for_each_other),
	};

	return cmocka_run_group_tests_name("lock_hooks", tests, NULL, NULL);
}
