/* waiters_test.c - a waiting thread learns which thread released the lock */
#include "sampler/hooks/waiters.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LOCK = 0x7f0012345678, OTHER = 0x7f0012349abc };

static struct waiters table;

static int clear(void **state)
{
	(void)state;
	memset(&table, 0, sizeof(table));
	return 0;
}

static struct waker *first_waker(uint64_t lock)
{
	uint32_t probe = 0;

	return waiters_wake(&table, lock, &probe);
}

/* Return: in how many places. */
static int let_go(uint64_t lock, uint32_t tid)
{
	uint32_t probe = 0;
	struct waker *waker;
	int n = 0;

	for (; (waker = waiters_wake(&table, lock, &probe)); n++) {
		waker->tid = tid;
		waker->n_pcs = 1;
		waker->pcs[0] = tid * 16;
		waiters_woken(waker);
	}
	return n;
}

static uint32_t waker_of(const struct waiter *waiter)
{
	struct waker waker;

	if (!waiters_waker(waiter, &waker))
		return 0;
	assert_int_equal(waker.pcs[0], waker.tid * 16);
	return waker.tid;
}

static void no_thread_waits_at_first(void **state)
{
	(void)state;
	assert_false(waiters_may_wait(&table, LOCK));
	assert_null(first_waker(LOCK));
}

static void a_waiter_learns_its_waker(void **state)
{
	struct waiter waiter = waiters_add(&table, LOCK);

	(void)state;
	assert_true(waiters_may_wait(&table, LOCK));
	assert_int_equal(waker_of(&waiter), 0);
	assert_int_equal(let_go(LOCK, 7), 1);
	assert_int_equal(waker_of(&waiter), 7);
	waiters_remove(&table, &waiter);
	assert_false(waiters_may_wait(&table, LOCK));
	assert_null(first_waker(LOCK));
}

static void the_last_waker_counts(void **state)
{
	struct waiter waiter = waiters_add(&table, LOCK);

	(void)state;
	assert_int_equal(let_go(LOCK, 7), 1);
	assert_int_equal(let_go(LOCK, 8), 1);
	assert_int_equal(waker_of(&waiter), 8);
	waiters_remove(&table, &waiter);
}

static void a_release_before_the_wait_is_not_reported(void **state)
{
	struct waiter first = waiters_add(&table, LOCK);
	struct waiter second;

	(void)state;
	assert_int_equal(let_go(LOCK, 7), 1);
	second = waiters_add(&table, LOCK);
	assert_int_equal(waker_of(&first), 7);
	assert_int_equal(waker_of(&second), 0);
	waiters_remove(&table, &first);
	assert_int_equal(let_go(LOCK, 9), 1);
	assert_int_equal(waker_of(&second), 9);
	waiters_remove(&table, &second);
}

static void an_unwritten_waker_is_not_told(void **state)
{
	struct waiter waiter = waiters_add(&table, LOCK);
	struct waker *waker = first_waker(LOCK);

	(void)state;
	assert_non_null(waker);
	waiters_woken(waker);
	assert_int_equal(waker_of(&waiter), 0);
	waiters_remove(&table, &waiter);
}

static void two_wakers_at_once_do_not_mix(void **state)
{
	struct waiter waiter = waiters_add(&table, LOCK);
	struct waker *waker = first_waker(LOCK);

	(void)state;
	assert_non_null(waker);
	assert_null(first_waker(LOCK));
	assert_int_equal(waker_of(&waiter), 0);
	waker->tid = 5;
	waker->n_pcs = 1;
	waker->pcs[0] = 5 * 16;
	waiters_woken(waker);
	assert_int_equal(waker_of(&waiter), 5);
	waiters_remove(&table, &waiter);
}

static void a_place_that_was_anothers_tells_nothing(void **state)
{
	struct waiter waiter = waiters_add(&table, LOCK);
	struct waiters_lock *place = waiter.at;

	(void)state;
	assert_int_equal(let_go(LOCK, 7), 1);
	waiters_remove(&table, &waiter);
	waiter = waiters_add(&table, LOCK);
	assert_ptr_equal(waiter.at, place);
	assert_int_equal(waker_of(&waiter), 0);
	waiters_remove(&table, &waiter);
}

static void locks_do_not_know_of_each_other(void **state)
{
	struct waiter waiter = waiters_add(&table, LOCK);
	struct waiter other = waiters_add(&table, OTHER);

	(void)state;
	assert_int_equal(let_go(OTHER, 3), 1);
	assert_int_equal(waker_of(&waiter), 0);
	assert_int_equal(waker_of(&other), 3);
	waiters_remove(&table, &other);
	assert_true(waiters_may_wait(&table, LOCK));
	waiters_remove(&table, &waiter);
}

/* More locks than places: those without one are counted, and their waker stays unknown. */
static void a_full_table_leaves_wakers_unknown(void **state)
{
	enum { N = WAITERS_LOCKS * 4 };
	static struct waiter waiters[N];
	int n_placed = 0;

	(void)state;
	for (int i = 0; i < N; i++) {
		waiters[i] = waiters_add(&table, LOCK + (uint64_t)i * 40);
		n_placed += waiters[i].at != NULL;
		if (!waiters[i].at)
			assert_int_equal(waker_of(&waiters[i]), 0);
	}
	assert_in_range(n_placed, WAITERS_LOCKS / 2, WAITERS_LOCKS);
	for (int i = 0; i < N; i++) {
		assert_true(waiters_may_wait(&table, waiters[i].lock));
		waiters_remove(&table, &waiters[i]);
	}
	for (int i = 0; i < WAITERS_FILTER; i++)
		assert_int_equal(table.filter[i], 0);
	for (int i = 0; i < WAITERS_LOCKS; i++)
		assert_int_equal(table.locks[i].waiters, 0);
}

static void more_waiters_than_a_place_counts_have_another(void **state)
{
	static struct waiter waiters[300];

	(void)state;
	for (int i = 0; i < 300; i++)
		waiters[i] = waiters_add(&table, LOCK);
	assert_int_equal(let_go(LOCK, 7), 2);
	for (int i = 0; i < 300; i++)
		assert_int_equal(waker_of(&waiters[i]), 7);
	/* The first place is free again; the releasing thread writes for those in the second too.
	 */
	for (int i = 0; i < 255; i++)
		waiters_remove(&table, &waiters[i]);
	assert_int_equal(let_go(LOCK, 8), 1);
	waiters[0] = waiters_add(&table, LOCK);
	for (int i = 255; i < 300; i++)
		assert_int_equal(waker_of(&waiters[i]), 8);
	waiters_remove(&table, &waiters[0]);
	for (int i = 255; i < 300; i++)
		waiters_remove(&table, &waiters[i]);
	assert_false(waiters_may_wait(&table, LOCK));
	assert_null(first_waker(LOCK));
}

static void a_wiped_table_is_left_in_peace(void **state)
{
	struct waiter waiter = waiters_add(&table, LOCK);

	memset(&table, 0, sizeof(table)); /* fork */
	waiters_remove(&table, &waiter);
	(void)state;
	assert_false(waiters_may_wait(&table, LOCK));
	waiter = waiters_add(&table, LOCK);
	assert_int_equal(let_go(LOCK, 7), 1);
	assert_int_equal(waker_of(&waiter), 7);
	waiters_remove(&table, &waiter);
}

/* Two that come first at the same moment may be apart: the releasing thread writes for both. */
enum { MEETINGS = 20000 };

static _Atomic int n_arrived;
static struct waiter pair[2];
static int n_apart;
static int n_untold;

/* Spinning, so that they go on within nanoseconds. */
static void meet(int *n_meetings)
{
	int all = 2 * ++*n_meetings;

	atomic_fetch_add(&n_arrived, 1);
	for (int i = 1; atomic_load(&n_arrived) < all; i++)
		if (i % 1000 == 0)
			sched_yield();
}

static void *join_together(void *number)
{
	uintptr_t self = (uintptr_t)number;
	int n_meetings = 0;

	for (int i = 0; i < MEETINGS; i++) {
		meet(&n_meetings);
		pair[self] = waiters_add(&table, LOCK);
		meet(&n_meetings);
		if (self == 0) {
			n_apart += pair[0].at != pair[1].at;
			(void)let_go(LOCK, 7);
			n_untold += waker_of(&pair[0]) != 7 || waker_of(&pair[1]) != 7;
		}
		meet(&n_meetings);
		waiters_remove(&table, &pair[self]);
	}
	return NULL;
}

static void two_waiters_at_once_both_learn_their_waker(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, join_together, (void *)1), 0);
	join_together(NULL);
	pthread_join(thread, NULL);
	print_message("%d of %d pairs stood apart\n", n_apart, MEETINGS);
	assert_int_equal(n_untold, 0);
	assert_false(waiters_may_wait(&table, LOCK));
}

/* Threads that hand a mutex on, each naming itself: no thread ever sees a wrong one. */
enum { N_THREADS = 6, TURNS = 3000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint32_t last;
static _Atomic uint32_t n_known;
static _Atomic uint32_t n_wrong;

static void take(uint32_t self)
{
	uint64_t lock = (uint64_t)(uintptr_t)&mutex;
	struct waiter waiter;
	uint32_t tid;

	if (pthread_mutex_trylock(&mutex) != 0) {
		waiter = waiters_add(&table, lock);
		pthread_mutex_lock(&mutex);
		tid = waker_of(&waiter);
		waiters_remove(&table, &waiter);
		atomic_fetch_add(&n_known, tid != 0);
		atomic_fetch_add(&n_wrong, tid != 0 && tid != last);
	}
	last = self;
	sched_yield(); /* the others run into the lock */
	if (waiters_may_wait(&table, lock))
		(void)let_go(lock, self);
	pthread_mutex_unlock(&mutex);
}

static void *run(void *number)
{
	for (int i = 0; i < TURNS; i++)
		take((uint32_t)(uintptr_t)number);
	return NULL;
}

static void a_mutex_keeps_its_wakers_right(void **state)
{
	pthread_t threads[N_THREADS];

	(void)state;
	for (uintptr_t i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run, (void *)(i + 1)), 0);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	print_message("%u wakers known, %u wrong\n", n_known, n_wrong);
	assert_int_equal(n_wrong, 0);
	assert_true(n_known > 0);
	for (int i = 0; i < WAITERS_LOCKS; i++)
		assert_int_equal(table.locks[i].waiters, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(no_thread_waits_at_first, clear),
		cmocka_unit_test_setup(a_waiter_learns_its_waker, clear),
		cmocka_unit_test_setup(the_last_waker_counts, clear),
		cmocka_unit_test_setup(a_release_before_the_wait_is_not_reported, clear),
		cmocka_unit_test_setup(an_unwritten_waker_is_not_told, clear),
		cmocka_unit_test_setup(two_wakers_at_once_do_not_mix, clear),
		cmocka_unit_test_setup(a_place_that_was_anothers_tells_nothing, clear),
		cmocka_unit_test_setup(locks_do_not_know_of_each_other, clear),
		cmocka_unit_test_setup(a_full_table_leaves_wakers_unknown, clear),
		cmocka_unit_test_setup(more_waiters_than_a_place_counts_have_another, clear),
		cmocka_unit_test_setup(a_wiped_table_is_left_in_peace, clear),
		cmocka_unit_test_setup(two_waiters_at_once_both_learn_their_waker, clear),
		cmocka_unit_test_setup(a_mutex_keeps_its_wakers_right, clear),
	};

	return cmocka_run_group_tests_name("waiters", tests, NULL, NULL);
}
