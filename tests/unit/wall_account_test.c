/* wall_account_test.c - a thread's wall time in whole periods, and what its files say */
#include "sampler/collector/process/wall_account.h"
#include "sampler/procfs/task.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

enum { PERIOD_MS = 10 };

static const struct schedstat zero;

static struct wall_account begin(uint64_t since_ms)
{
	struct wall_account account;

	wall_account_begin(&account, PERIOD_MS * MS, since_ms * MS, &zero);
	return account;
}

static void look(struct wall_account *account, uint64_t now_ms, uint64_t run_ms, uint64_t delay_ms)
{
	const struct schedstat now = {.run_ns = run_ms * MS, .delay_ns = delay_ms * MS};

	wall_account_update(account, now_ms * MS, &now);
}

/* All that a look leaves to be taken, added to the weights so far. */
static void take(struct wall_account *account, uint64_t weights[WALL_STATES])
{
	for (int state = 0; state < WALL_STATES; state++)
		weights[state] += wall_account_take(account, (enum sample_state)state);
}

static void running_waiting_and_blocked_time_are_told_apart(void **state)
{
	struct wall_account account = begin(1000);
	uint64_t weights[WALL_STATES] = {0};

	(void)state;
	look(&account, 1100, 30, 20);
	wall_account_settle(&account, STATE_DISK, 1);
	take(&account, weights);
	assert_int_equal(weights[STATE_RUNNING], 3);
	assert_int_equal(weights[STATE_RUNNABLE], 2);
	assert_int_equal(weights[STATE_DISK], 5);
	assert_int_equal(weights[STATE_SLEEPING], 0);
}

static void a_thread_known_before_is_charged_from_then_on(void **state)
{
	const struct schedstat then = {.run_ns = 500 * MS, .delay_ns = 70 * MS};
	struct wall_account account;

	(void)state;
	wall_account_begin(&account, PERIOD_MS * MS, 1000 * MS, &then);
	look(&account, 1020, 510, 70);
	assert_int_equal(wall_account_take(&account, STATE_RUNNING), 1);
	assert_int_equal(account.rest_ns, 10 * MS);
}

static void remainders_are_carried_to_the_next_look(void **state)
{
	struct wall_account account = begin(0);

	(void)state;
	look(&account, 7, 0, 0);
	wall_account_settle(&account, STATE_SLEEPING, 1);
	assert_int_equal(wall_account_take(&account, STATE_SLEEPING), 0);
	look(&account, 14, 0, 0);
	wall_account_settle(&account, STATE_SLEEPING, 1);
	assert_int_equal(wall_account_take(&account, STATE_SLEEPING), 1);
	look(&account, 640, 0, 0); /* after a long wait between looks */
	wall_account_settle(&account, STATE_SLEEPING, 1);
	assert_int_equal(wall_account_take(&account, STATE_SLEEPING), 63);
}

static void two_waits_share_the_time_between_two_looks(void **state)
{
	struct wall_account account = begin(0);

	(void)state;
	look(&account, 41, 1, 0);
	wall_account_settle(&account, STATE_SLEEPING, 2);
	wall_account_settle(&account, STATE_DISK, 1);
	assert_int_equal(wall_account_take(&account, STATE_SLEEPING), 2);
	assert_int_equal(wall_account_take(&account, STATE_DISK), 2);
	assert_int_equal(account.rest_ns, 0);
}

/* The kernel writes down running time at ticks: 8 and 12 ms of every 10 that pass. */
static void late_bookkeeping_makes_no_blocked_time(void **state)
{
	struct wall_account account = begin(0);
	uint64_t weights[WALL_STATES] = {0};
	uint64_t run_ms = 0;

	(void)state;
	for (uint64_t i = 1; i <= 100; i++) {
		run_ms += i % 2 ? 8 : 12;
		look(&account, i * 10, run_ms, 0);
		take(&account, weights);
	}
	wall_account_settle(&account, STATE_SLEEPING, 1);
	take(&account, weights);
	assert_int_equal(weights[STATE_RUNNING], 100);
	assert_int_equal(weights[STATE_SLEEPING], 0);
}

/* Of every 10 ms of a thread that is never switched a hypervisor takes 2. */
static void stolen_time_of_a_running_thread_is_runnable(void **state)
{
	struct wall_account account = begin(0);
	uint64_t weights[WALL_STATES] = {0};

	(void)state;
	for (uint64_t i = 1; i <= 100; i++) {
		look(&account, i * 10, i * 8, 0);
		wall_account_stay(&account, 10 * MS);
		take(&account, weights);
	}
	assert_int_equal(weights[STATE_RUNNING], 80);
	assert_int_equal(weights[STATE_RUNNABLE], 19); /* 10 ms may still be written down */
	look(&account, 1010, 800, 0);
	wall_account_settle(&account, STATE_SLEEPING, 1);
	take(&account, weights);
	assert_int_equal(weights[STATE_SLEEPING], 2);
}

/* 500 ms in the queue, of which the scheduler says nothing until they are over. */
static void a_long_queue_is_runnable_at_once_and_not_twice(void **state)
{
	struct wall_account account = begin(0);
	struct schedstat now = {.run_ns = 10 * MS, .delay_ns = 500 * MS, .slices = 1};
	uint64_t weights[WALL_STATES] = {0};

	(void)state;
	for (uint64_t i = 1; i <= 50; i++) {
		look(&account, i * 10, 0, 0);
		wall_account_stay(&account, 10 * MS);
		take(&account, weights);
	}
	assert_int_equal(weights[STATE_RUNNABLE], 49);
	wall_account_update(&account, 510 * MS, &now);
	take(&account, weights);
	assert_int_equal(weights[STATE_RUNNABLE], 50);
	assert_int_equal(weights[STATE_RUNNING], 1);
	assert_int_equal(account.rest_ns, 0);
}

/* Switched between any two looks, or found blocked: what rests may have been a wait. */
static void a_rest_with_a_switch_is_not_stolen(void **state)
{
	struct wall_account account = begin(0);

	(void)state;
	for (uint64_t i = 1; i <= 100; i++) {
		const struct schedstat now = {.run_ns = 5 * i * MS, .slices = i};

		wall_account_update(&account, 10 * i * MS, &now);
		wall_account_stay(&account, 10 * MS);
	}
	assert_int_equal(wall_account_take(&account, STATE_RUNNABLE), 0);
	assert_int_equal(account.rest_ns, 500 * MS);
}

static void more_than_the_time_that_passed_is_paid_back(void **state)
{
	struct wall_account account = begin(0);
	uint64_t weights[WALL_STATES] = {0};

	(void)state;
	look(&account, 10, 25, 0); /* clocks differ */
	wall_account_settle(&account, STATE_SLEEPING, 1);
	take(&account, weights);
	look(&account, 50, 25, 0);
	wall_account_settle(&account, STATE_SLEEPING, 1);
	take(&account, weights);
	assert_int_equal(weights[STATE_RUNNING], 2);
	assert_int_equal(weights[STATE_SLEEPING], 2); /* 25 of the 40 ms */
}

/* It seemed to sleep and waited for a CPU: 40 ms, told when it got one. */
static void a_queue_that_looked_like_sleep_is_made_up_for(void **state)
{
	struct wall_account account = begin(0);
	uint64_t weights[WALL_STATES] = {0};

	(void)state;
	look(&account, 40, 0, 0);
	wall_account_settle(&account, STATE_SLEEPING, 1);
	take(&account, weights);
	assert_int_equal(weights[STATE_SLEEPING], 4);
	look(&account, 50, 10, 40);
	wall_account_settle(&account, STATE_SLEEPING, 1);
	take(&account, weights);
	assert_int_equal(weights[STATE_RUNNING], 1);
	assert_int_equal(weights[STATE_RUNNABLE], 0); /* that time was given already */
	look(&account, 90, 10, 40);
	wall_account_settle(&account, STATE_SLEEPING, 1);
	take(&account, weights);
	assert_int_equal(weights[STATE_SLEEPING], 4); /* slept 40 of 90 ms */
	assert_int_equal(weights[STATE_RUNNABLE], 4);
}

static void the_end_gives_no_time_twice(void **state)
{
	struct wall_account account = begin(0);
	uint64_t weights[WALL_STATES] = {0};
	uint64_t last[WALL_STATES];
	int64_t residual_ns = 0;
	uint64_t total = 0;

	(void)state;
	look(&account, 40, 0, 0);
	wall_account_settle(&account, STATE_SLEEPING, 1);
	take(&account, weights);
	look(&account, 50, 10, 40);
	take(&account, weights);
	wall_account_end(&account, STATE_SLEEPING, &residual_ns, last);
	for (int i = 0; i < WALL_STATES; i++)
		total += weights[i] + last[i];
	assert_int_equal(total, 5);
	assert_int_equal(residual_ns, 0);
}

static void a_wait_ends_where_the_queue_began(void **state)
{
	struct wall_account account = begin(0);

	(void)state;
	look(&account, 30, 0, 0); /* wants to run, perhaps for long */
	wall_account_hold(&account);
	assert_int_equal(wall_account_take(&account, STATE_SLEEPING), 0);
	look(&account, 60, 10, 40);
	wall_account_release(&account, STATE_SLEEPING);
	assert_int_equal(account.residual_ns[STATE_SLEEPING], 10 * MS);
	assert_int_equal(account.residual_ns[STATE_RUNNABLE], 40 * MS);
	assert_int_equal(account.rest_ns, 0);
	look(&account, 90, 10, 40); /* blocked again: what was held is not held again */
	wall_account_release(&account, STATE_SLEEPING);
	assert_int_equal(account.residual_ns[STATE_SLEEPING], 10 * MS);
	wall_account_settle(&account, STATE_DISK, 1);
	assert_int_equal(account.residual_ns[STATE_DISK], 30 * MS);
}

static void counters_that_fall_have_not_moved(void **state)
{
	struct wall_account account = begin(0);

	(void)state;
	look(&account, 10, 10, 5);
	look(&account, 20, 3, 0);
	assert_int_equal(account.residual_ns[STATE_RUNNING], 10 * MS);
	assert_int_equal(account.residual_ns[STATE_RUNNABLE], 5 * MS);
	look(&account, 15, 10, 5); /* neither has the clock */
	assert_int_equal(account.rest_ns, 5 * MS);
}

static void the_end_gives_the_rest_where_most_is_left(void **state)
{
	struct wall_account account = begin(0);
	uint64_t weights[WALL_STATES];
	int64_t residual_ns = 0;

	(void)state;
	look(&account, 29, 9, 8);
	wall_account_end(&account, STATE_SLEEPING, &residual_ns, weights);
	assert_int_equal(weights[STATE_SLEEPING], 1); /* 12 ms */
	assert_int_equal(weights[STATE_RUNNING], 1);
	assert_int_equal(weights[STATE_RUNNABLE], 0);
	assert_int_equal(residual_ns, 9 * MS);
}

static void an_end_in_the_queue_is_no_running(void **state)
{
	struct wall_account account;
	uint64_t weights[WALL_STATES];
	int64_t carry = 0;

	(void)state;
	wall_account_begin(&account, 10 * MS, 0, &(struct schedstat){0});
	wall_account_update(&account, 300 * MS, &(struct schedstat){20 * MS, 0, 1});
	wall_account_run(&account, 10 * MS);
	wall_account_end(&account, STATE_SLEEPING, &carry, weights);
	assert_int_equal(weights[STATE_RUNNING], 3);
	assert_int_equal(weights[STATE_RUNNABLE], 27);
	assert_int_equal(weights[STATE_SLEEPING], 0);
	assert_int_equal(carry, 0);
}

static void short_threads_add_up(void **state)
{
	int64_t residual_ns = PERIOD_MS * MS / 2;
	uint64_t total = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		struct wall_account account = begin(0);
		uint64_t weights[WALL_STATES];

		look(&account, 3, 1, 0);
		wall_account_end(&account, STATE_SLEEPING, &residual_ns, weights);
		total += weights[STATE_RUNNING] + weights[STATE_SLEEPING];
		assert_true(residual_ns >= 0 && residual_ns < (int64_t)(PERIOD_MS * MS));
	}
	assert_int_equal(total, 300);
}

/* Any life: what is given and what is carried is all the time there was. */
static void a_life_sums_to_its_length(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 200; seed++) {
		struct wall_account account = begin(0);
		uint64_t weights[WALL_STATES] = {0};
		uint64_t last[WALL_STATES];
		uint64_t now = 0;
		uint64_t run = 0;
		uint64_t delay = 0;
		uint64_t total = 0;
		int64_t residual_ns = PERIOD_MS * MS / 2;

		srand(seed);
		while (now < 1000) {
			uint64_t step = 1 + (uint64_t)rand() % 20;
			uint64_t part = (uint64_t)rand() % (step + 1);

			now += step;
			run += part;
			delay += (step - part) / 3;
			look(&account, now, run, delay);
			if (rand() % 3)
				wall_account_settle(&account, STATE_SLEEPING, 1 + rand() % 2);
			if (rand() % 2)
				wall_account_settle(&account, STATE_DISK, 1);
			take(&account, weights);
		}
		wall_account_end(&account, STATE_SLEEPING, &residual_ns, last);
		for (int i = 0; i < WALL_STATES; i++)
			total += weights[i] + last[i];
		assert_in_range(total * PERIOD_MS, now - PERIOD_MS / 2, now + PERIOD_MS / 2);
	}
}

static void idle_threads_are_looked_at_less_and_less(void **state)
{
	uint64_t ticks = 0;
	uint64_t random = 1;
	unsigned looks = 0;

	(void)state;
	assert_int_equal(wall_account_wait(0, 64, 5), 1);
	assert_int_equal(wall_account_wait(7, 64, 5), 1);
	assert_int_equal(wall_account_wait(1000000, 64, 63), 64);
	assert_int_equal(wall_account_wait(1000000, 1, 63), 1);
	while (ticks < 1000) {
		uint32_t wait = wall_account_wait(ticks, 64, random += 12345);

		assert_in_range(wait, 1, 64);
		assert_true(wait == 1 || wait * 8 <= ticks * 3); /* never far behind */
		ticks += wait;
		looks++;
	}
	assert_in_range(looks, 20, 60);
}

static void a_start_is_not_after_the_time_it_was_seen(void **state)
{
	(void)state;
	assert_int_equal(task_started_ns(UINT32_MAX, 77), 77);
	assert_true(task_started_ns(0, UINT64_MAX) <= 10 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(running_waiting_and_blocked_time_are_told_apart),
		cmocka_unit_test(a_thread_known_before_is_charged_from_then_on),
		cmocka_unit_test(remainders_are_carried_to_the_next_look),
		cmocka_unit_test(two_waits_share_the_time_between_two_looks),
		cmocka_unit_test(late_bookkeeping_makes_no_blocked_time),
		cmocka_unit_test(stolen_time_of_a_running_thread_is_runnable),
		cmocka_unit_test(a_long_queue_is_runnable_at_once_and_not_twice),
		cmocka_unit_test(a_rest_with_a_switch_is_not_stolen),
		cmocka_unit_test(more_than_the_time_that_passed_is_paid_back),
		cmocka_unit_test(a_queue_that_looked_like_sleep_is_made_up_for),
		cmocka_unit_test(the_end_gives_no_time_twice),
		cmocka_unit_test(a_wait_ends_where_the_queue_began),
		cmocka_unit_test(counters_that_fall_have_not_moved),
		cmocka_unit_test(the_end_gives_the_rest_where_most_is_left),
		cmocka_unit_test(an_end_in_the_queue_is_no_running),
		cmocka_unit_test(short_threads_add_up),
		cmocka_unit_test(a_life_sums_to_its_length),
		cmocka_unit_test(idle_threads_are_looked_at_less_and_less),
		cmocka_unit_test(a_start_is_not_after_the_time_it_was_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
