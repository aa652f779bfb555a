/* ticks_test.c - ticks of the clock that programs count by, in ns */
#include "sampler/collector/tables/ticks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

static void a_tick_is_as_long_as_two_readings_say(void **state)
{
	const struct ticks_pair first = {.ticks = 1000, .ns = 5 * SECOND};
	const struct ticks_pair second = {.ticks = 1000 + 30000000, .ns = 5 * SECOND + 10000000};
	struct ticks ticks = {.clock = TABLES_TSC};

	(void)state;
	ticks_set(&ticks, &first, &second);
	assert_int_equal(ticks.clock, TABLES_TSC);
	assert_in_range(ticks_to_ns(&ticks, 3 * SECOND), SECOND - 2, SECOND);
	assert_in_range(ticks_of_ns(&ticks, SECOND), 3 * SECOND, 3 * SECOND + 6);
	assert_int_equal(ticks_time_ns(&ticks, second.ticks), second.ns);
	assert_in_range(ticks_time_ns(&ticks, first.ticks), first.ns, first.ns + 1);
	assert_in_range(ticks_time_ns(&ticks, second.ticks + 300), second.ns + 99, second.ns + 100);
}

static void durations_that_no_clock_has_are_the_longest(void **state)
{
	struct ticks ticks = {.clock = TABLES_TSC, .mult = UINT64_C(1) << 34};

	(void)state;
	assert_true(ticks_to_ns(&ticks, UINT64_MAX) == UINT64_MAX);
	assert_int_equal(ticks_time_ns(&ticks, 0), 0);
	ticks.base = (struct ticks_pair){.ticks = UINT64_MAX, .ns = 1};
	assert_int_equal(ticks_time_ns(&ticks, 0), 0);
}

static void a_counter_that_stands_still_is_not_used(void **state)
{
	const struct ticks_pair first = {.ticks = 7, .ns = SECOND};
	const struct ticks_pair second = {.ticks = 7, .ns = 2 * SECOND};
	struct ticks ticks = {.clock = TABLES_TSC};

	(void)state;
	ticks_set(&ticks, &first, &second);
	assert_int_equal(ticks.clock, TABLES_MONOTONIC);
	assert_int_equal(ticks_to_ns(&ticks, 12345), 12345);
	assert_int_equal(ticks_time_ns(&ticks, SECOND), SECOND);
}

static void the_clock_of_this_machine_is_measured_once(void **state)
{
	struct ticks ticks;
	uint64_t mult;

	(void)state;
	ticks_begin(&ticks);
	ticks_measure(&ticks);
	mult = ticks.mult;
	assert_true(mult > 0);
	ticks_measure(&ticks);
	assert_true(ticks.mult == mult);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tick_is_as_long_as_two_readings_say),
		cmocka_unit_test(durations_that_no_clock_has_are_the_longest),
		cmocka_unit_test(a_counter_that_stands_still_is_not_used),
		cmocka_unit_test(the_clock_of_this_machine_is_measured_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
