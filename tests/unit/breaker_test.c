/* breaker_test.c - trouble that lasts makes a pause, trouble that passes does not */
#include "base/units.h"
#include "sampler/collector/control/rate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct breaker fresh = {.late_ns = 500 * NS_PER_MS, .pause_ns = 2 * NS_PER_S};

/* Looks every 50 ms.  Return: how many began or ended a pause. */
static int check_for_ms(struct breaker *breaker, uint64_t *now_ns, uint64_t ms, bool full,
			uint64_t behind_ms)
{
	int n = 0;

	for (uint64_t at = 0; at < ms; at += 50) {
		*now_ns += 50 * NS_PER_MS;
		n += breaker_step(breaker, *now_ns, full, behind_ms * NS_PER_MS);
	}
	return n;
}

static void a_full_ring_that_is_emptied_is_none(void **state)
{
	struct breaker breaker = fresh;
	uint64_t now_ns = NS_PER_S;

	(void)state;
	for (int i = 0; i < 50; i++) {
		assert_int_equal(check_for_ms(&breaker, &now_ns, 900, true, 0), 0);
		assert_int_equal(check_for_ms(&breaker, &now_ns, 50, false, 0), 0);
	}
}

static void a_ring_that_stays_full_makes_a_pause(void **state)
{
	struct breaker breaker = fresh;
	uint64_t now_ns = NS_PER_S;

	(void)state;
	assert_int_equal(check_for_ms(&breaker, &now_ns, 1100, true, 0), 1);
	assert_int_equal(breaker.cause, BREAKER_FULL);
	assert_true(breaker.until_ns > now_ns);
	/* Nothing shortens or lengthens it. */
	assert_int_equal(check_for_ms(&breaker, &now_ns, 1500, true, 9000), 0);
	assert_int_equal(check_for_ms(&breaker, &now_ns, 1000, false, 0), 1);
	assert_int_equal(breaker.until_ns, 0);
}

static void being_behind_makes_a_pause_and_another(void **state)
{
	struct breaker breaker = fresh;
	uint64_t now_ns = NS_PER_S;

	(void)state;
	assert_int_equal(check_for_ms(&breaker, &now_ns, 5000, false, 499), 0);
	assert_int_equal(check_for_ms(&breaker, &now_ns, 1100, false, 500), 1);
	assert_int_equal(breaker.cause, BREAKER_LAG);
	/* Begun, ended, begun again. */
	assert_int_equal(check_for_ms(&breaker, &now_ns, 3500, false, 500), 2);
	assert_true(breaker.until_ns > now_ns);
}

static void one_very_late_look_is_none(void **state)
{
	struct breaker breaker = fresh;
	uint64_t now_ns = NS_PER_S;

	(void)state;
	now_ns += 3600 * NS_PER_S;
	assert_false(breaker_step(&breaker, now_ns, true, 3600 * NS_PER_S));
	assert_int_equal(check_for_ms(&breaker, &now_ns, 5000, false, 0), 0);
	/* Two, three: it is not run often, which more pauses would not mend. */
	for (int i = 0; i < 3; i++) {
		now_ns += 10 * NS_PER_S;
		assert_false(breaker_step(&breaker, now_ns, true, 10 * NS_PER_S));
	}
}

static void off_is_off(void **state)
{
	struct breaker breaker = {.pause_ns = NS_PER_S};
	uint64_t now_ns = NS_PER_S;

	(void)state;
	assert_int_equal(check_for_ms(&breaker, &now_ns, 60000, true, 60000), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_ring_that_is_emptied_is_none),
		cmocka_unit_test(a_ring_that_stays_full_makes_a_pause),
		cmocka_unit_test(being_behind_makes_a_pause_and_another),
		cmocka_unit_test(one_very_late_look_is_none),
		cmocka_unit_test(off_is_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
