/* pace_test.c - the rings are looked at as seldom as they, and what happens, allow */
#include "sampler/collector/pace.h"

#include "sampler/collector/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { TICK_MS = 4, CROWD = 2000 };

static const struct pace_pass calm = {
	.now_ns = 50 * NS_PER_S, .period_ns = NS_PER_S / 999, .n_slots = 8};

static void check(struct pace *pace, const struct pace_pass *pass, uint32_t ms, uint32_t most_ms)
{
	struct pace_wait wait = pace_wait(pace, pass);

	assert_int_equal(wait.ms, ms);
	assert_int_equal(wait.most_ms, most_ms);
}

static void timers_are_in_no_hurry(void **state)
{
	struct pace pace = {.tick_ns = TICK_MS * NS_PER_MS, .most_ms = PASS_MOST_MS};
	struct pace_pass pass = calm;

	(void)state;
	/* 64 samples of a thread that begins to run. */
	check(&pace, &pass, 50, 64 * TICK_MS);
	pass.period_ns = NS_PER_S / 99;
	check(&pace, &pass, 50, 400);
	pass.n_slots = CROWD; /* whose rings are small */
	check(&pace, &pass, 50, 161);
	pace.most_ms = PASS_READING_MS; /* values are not to be older */
	check(&pace, &pass, 50, 80);
	pace.most_ms = PASS_MOST_MS;
	pass.period_ns = NS_PER_S / 999;
	check(&pace, &pass, 50, 16 * TICK_MS);
}

static void events_are_while_threads_begin(void **state)
{
	struct pace pace = {.takes_over = true, .most_ms = PASS_MOST_MS};
	struct pace_pass pass = calm;

	(void)state;
	check(&pace, &pass, 50, 64);
	pass.n_taken = 1;
	check(&pace, &pass, 10, 64);
	pass.now_ns += PERF_QUICK_MS * NS_PER_MS - 1;
	check(&pace, &pass, 10, 64);
	pass.n_taken = 2;
	check(&pace, &pass, 10, 64);
	pass.now_ns += PERF_QUICK_MS * NS_PER_MS;
	check(&pace, &pass, 50, 64);
	/* At a high rate a ring is full soon. */
	pass.period_ns = NS_PER_S / 2000;
	check(&pace, &pass, 32, 32);
	pass.period_ns = NS_PER_S / 10000;
	check(&pace, &pass, 10, 10);
	/* And where the rate is lowered, late. */
	pass.period_ns = NS_PER_S / 999 * 8;
	check(&pace, &pass, 50, 400);
	pass.n_slots = CROWD;
	check(&pace, &pass, 50, 128);
}

static void a_ring_that_fills_brings_the_next_pass_near(void **state)
{
	struct pace pace = {.tick_ns = TICK_MS * NS_PER_MS, .most_ms = PASS_MOST_MS};
	struct pace_pass pass = calm;

	(void)state;
	pass.fill = 0.25;
	check(&pace, &pass, 50, 64 * TICK_MS);
	pass.fill = 0.5;
	check(&pace, &pass, 12, 12);
	pass.fill = 1;
	check(&pace, &pass, 3, 3);
	pace.hooks = true;
	check(&pace, &pass, PASS_LEAST_MS, PASS_LEAST_MS);
}

static void hooks_are_never_put_off(void **state)
{
	struct pace pace = {.tick_ns = TICK_MS * NS_PER_MS, .hooks = true, .most_ms = PASS_MOST_MS};

	(void)state;
	check(&pace, &calm, PASS_HOOKS_MS, PASS_HOOKS_MS);
	pace.takes_over = true;
	check(&pace, &calm, PASS_HOOKS_MS, PASS_HOOKS_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timers_are_in_no_hurry),
		cmocka_unit_test(events_are_while_threads_begin),
		cmocka_unit_test(a_ring_that_fills_brings_the_next_pass_near),
		cmocka_unit_test(hooks_are_never_put_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
