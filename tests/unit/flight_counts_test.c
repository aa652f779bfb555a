/* flight_counts_test.c - what the counters were at moments of the past */
#include "tools/flight/flight.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

static struct flight_counts counts;

/* Two counters, of two series, as a recording that looks every 100 ms has them. */
static void run(uint64_t from_s, uint64_t until_s)
{
	for (uint64_t at = from_s * 10; at < until_s * 10; at++) {
		const struct perf_script_count now[] = {{"lost_full", at}, {"cpu_ns", at * 2}};
		const struct perf_script_count locks[] = {{"lost_events", at * 3}};

		flight_counts_add(&counts, SERIES_CLOCK, now, 2, at * SECOND / 10);
		flight_counts_add(&counts, SERIES_LOCKS, locks, 1, at * SECOND / 10);
	}
}

static int begin(void **state)
{
	(void)state;
	memset(&counts, 0, sizeof(counts));
	counts.step_ns = SECOND;
	return 0;
}

static void before_the_first_moment_all_was_nothing(void **state)
{
	const struct perf_script_count *found;

	(void)state;
	assert_int_equal(flight_counts_begin(&counts, 5 * SECOND), 0);
	run(10, 20);
	assert_int_equal(flight_counts_begin(&counts, 5 * SECOND), 0);
	assert_int_equal(flight_counts_at(&counts, SERIES_CLOCK, 5 * SECOND, &found), 0);
}

static void a_moment_is_the_last_one_before(void **state)
{
	const struct perf_script_count *found;

	(void)state;
	run(10, 20);
	assert_int_equal(flight_counts_begin(&counts, 15 * SECOND + 999), 15 * SECOND);
	assert_int_equal(flight_counts_at(&counts, SERIES_CLOCK, 15 * SECOND, &found), 2);
	assert_string_equal(found[0].name, "lost_full");
	assert_int_equal(found[0].value, 150);
	assert_int_equal(found[1].value, 300);
	assert_int_equal(flight_counts_at(&counts, SERIES_LOCKS, 15 * SECOND, &found), 1);
	assert_string_equal(found[0].name, "lost_events");
	assert_int_equal(found[0].value, 450);
}

static void the_oldest_moments_go(void **state)
{
	(void)state;
	run(10, 10 + FLIGHT_MOMENTS * 2);
	assert_int_equal(flight_counts_begin(&counts, 20 * SECOND), 0);
	assert_int_equal(flight_counts_begin(&counts, UINT64_MAX),
			 (10 + FLIGHT_MOMENTS * 2 - 1) * SECOND);
	assert_int_equal(flight_counts_begin(&counts, (10 + FLIGHT_MOMENTS) * SECOND),
			 (10 + FLIGHT_MOMENTS) * SECOND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(before_the_first_moment_all_was_nothing, begin),
		cmocka_unit_test_setup(a_moment_is_the_last_one_before, begin),
		cmocka_unit_test_setup(the_oldest_moments_go, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
