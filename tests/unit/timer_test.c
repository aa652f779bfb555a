/* timer_test.c - the CPU time of ended threads that no sample represents goes to new ones */
#include "sampler/handler/timer.h"

#include "sampler/handler/sys/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { PERIOD = 10000000, LIFE = 2000000 };

static struct ring_header header;
static struct ring_slot ring;
static struct process process = {.header = &header, .period_ns = PERIOD};
static struct slot_own *own = (struct slot_own *)ring.own;
static struct slot slot = {.ring = &ring, .own = (struct slot_own *)ring.own};

static int begin(void **state)
{
	(void)state;
	process.account_ns = 0;
	header.paused = 0;
	header.epoch = 0;
	*own = (struct slot_own){.random = 1};
	return 0;
}

/* A thread of LIFE takes from the account and returns its residual. Return: its samples. */
static uint64_t live(bool sees_a_tick)
{
	uint64_t first_ns = timer_take_account(&process, &slot);
	uint64_t given = sees_a_tick && first_ns <= LIFE ? 1 + own->extra : 0;

	own->extra = 0;
	own->sampled_ns += (int64_t)given * PERIOD;
	own->armed_cpu_ns = clock_thread_cpu_ns() - LIFE;
	timer_return_account(&process, &slot);
	assert_int_equal(own->armed_cpu_ns, 0);
	return given;
}

static void carries_what_short_threads_used(void **state)
{
	uint64_t weights = 0;

	(void)state;
	/* 1,000 threads of 2 ms; the tick, every 4 ms, is seen by every second one. */
	for (int i = 0; i < 1000; i++)
		weights += live(i % 2);
	assert_in_range(weights, 195, 204);
	assert_in_range((uint64_t)(process.account_ns + 5 * PERIOD), 0, 10 * PERIOD);
}

static void starts_threads_anywhere_in_a_period(void **state)
{
	uint64_t weights = 0;

	(void)state;
	/* Nothing has ended yet, each tick on time: the sum is what they used. */
	for (int i = 0; i < 10000; i++) {
		process.account_ns = 0;
		weights += live(true);
	}
	assert_in_range(weights, 1800, 2200);
}

static void passes_on_an_expiry_that_no_tick_saw(void **state)
{
	(void)state;
	process.account_ns = PERIOD + 5;
	assert_int_equal(timer_take_account(&process, &slot), 1);
	assert_int_equal(process.account_ns, 5); /* whole periods only */
	assert_int_equal(own->extra, 0);         /* the first sample represents that one */
	assert_int_equal(own->sampled_ns, -PERIOD);
	process.account_ns = 0;
	assert_int_equal(live(false), 0);
	assert_in_range((uint64_t)process.account_ns, LIFE, LIFE + PERIOD);
}

static void gives_back_what_an_unsampled_thread_took(void **state)
{
	(void)state;
	process.account_ns = 25000000;
	assert_int_equal(timer_take_account(&process, &slot), 1);
	assert_int_equal(own->extra, 1);
	timer_return_account(&process, &slot);
	assert_in_range((uint64_t)process.account_ns, 25000000, 26000000);
	(void)timer_take_account(&process, &slot);
	own->sampled_ns += 2 * PERIOD;
	timer_return_account(&process, &slot);
	assert_in_range((uint64_t)process.account_ns, 5000000, 7000000);
}

static void takes_a_few_periods_at_most(void **state)
{
	(void)state;
	process.account_ns = (int64_t)100 * PERIOD;
	(void)timer_take_account(&process, &slot);
	assert_int_equal(own->extra, 3);
	assert_int_equal(process.account_ns, (int64_t)96 * PERIOD);
}

static void lets_a_thread_wait_for_what_was_sampled_too_early(void **state)
{
	(void)state;
	process.account_ns = -3 * PERIOD / 2;
	assert_in_range(timer_take_account(&process, &slot), PERIOD + 1, 2 * PERIOD);
	assert_int_equal(own->extra, 0);
	timer_return_account(&process, &slot);
	assert_in_range((uint64_t)(process.account_ns + 3 * PERIOD / 2), 0, 1000000);
}

static void an_unknown_residual_is_not_returned(void **state)
{
	(void)state;
	(void)timer_take_account(&process, &slot);
	own->armed_cpu_ns -= LIFE;
	header.paused = 1;
	timer_return_account(&process, &slot);
	assert_int_equal(process.account_ns, 0);
	header.paused = 0;
	header.epoch = 1;
	(void)timer_take_account(&process, &slot);
	timer_return_account(&process, &slot);
	assert_int_equal(process.account_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(carries_what_short_threads_used, begin),
		cmocka_unit_test_setup(starts_threads_anywhere_in_a_period, begin),
		cmocka_unit_test_setup(passes_on_an_expiry_that_no_tick_saw, begin),
		cmocka_unit_test_setup(gives_back_what_an_unsampled_thread_took, begin),
		cmocka_unit_test_setup(takes_a_few_periods_at_most, begin),
		cmocka_unit_test_setup(lets_a_thread_wait_for_what_was_sampled_too_early, begin),
		cmocka_unit_test_setup(an_unknown_residual_is_not_returned, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
