/* poll_interval_test.c - the rings are looked at as seldom as they, and what happens, allow */
#include "base/units.h"
#include "sampler/collector/control/poll_interval.h"

#include "sampler/wire/ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { TICK_MS = 4, CROWD = 2000 };

static const struct poll_interval timers = {.tick_ns = TICK_MS * NS_PER_MS,
					    .most_ms = PASS_MOST_MS};

static const struct poll_interval_pass calm = {
	.now_ns = 50 * NS_PER_S, .period_ns = NS_PER_S / 99, .n_slots = 8};

static void check(struct poll_interval pace, struct poll_interval_pass pass, uint32_t ms)
{
	assert_int_equal(poll_interval_wait(&pace, &pass), ms);
}

static struct poll_interval_pass at_hz(uint64_t hz)
{
	struct poll_interval_pass pass = calm;

	pass.period_ns = NS_PER_S / hz;
	return pass;
}

static void timers_are_in_no_hurry(void **state)
{
	struct poll_interval prompt = timers;

	(void)state;
	prompt.most_ms = 100;
	check(timers, at_hz(1), PASS_MOST_MS);
	check(timers, at_hz(99), 222);
	check(timers, at_hz(999), 22 * TICK_MS);
	check(prompt, at_hz(99), 100);
}

static void no_thread_that_begins_fills_its_ring(void **state)
{
	static const uint64_t rates[] = {1, 10, 49, 99, 250, 999, 10000};

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		for (uint32_t n = 1; n <= CROWD; n += CROWD - 1) {
			struct poll_interval pace = timers;
			struct poll_interval_pass pass = at_hz(rates[i]);
			uint64_t gap_ns =
				pass.period_ns > pace.tick_ns ? pass.period_ns : pace.tick_ns;
			uint64_t ms;

			pass.n_slots = n;
			ms = poll_interval_wait(&pace, &pass);
			assert_true((ms * NS_PER_MS / gap_ns + 1) * RECORD_MAX_BYTES <=
				    ring_data_bytes(n > 1008 ? RING_BIG_CHUNKS : 0));
		}
}

static void mappings_that_change_are_looked_at_often(void **state)
{
	struct poll_interval pace = timers;
	struct poll_interval_pass pass = calm;

	(void)state;
	pass.moved = true;
	assert_int_equal(poll_interval_wait(&pace, &pass), PASS_MS);
	pass.moved = false;
	pass.now_ns += PASS_MOVING_MS * NS_PER_MS - 1;
	assert_int_equal(poll_interval_wait(&pace, &pass), PASS_MS);
	pass.now_ns++;
	assert_int_equal(poll_interval_wait(&pace, &pass), 222);
}

static void events_are_while_threads_begin(void **state)
{
	struct poll_interval pace = {.takes_over = true, .most_ms = PASS_MOST_MS};
	struct poll_interval_pass pass = at_hz(999);

	(void)state;
	assert_int_equal(poll_interval_wait(&pace, &pass), PASS_MS);
	pass.n_taken = 1;
	assert_int_equal(poll_interval_wait(&pace, &pass), PERF_PASS_MS);
	pass.now_ns += PERF_QUICK_MS * NS_PER_MS - 1;
	assert_int_equal(poll_interval_wait(&pace, &pass), PERF_PASS_MS);
	pass.n_taken = 2;
	assert_int_equal(poll_interval_wait(&pace, &pass), PERF_PASS_MS);
	pass.now_ns += PERF_QUICK_MS * NS_PER_MS;
	assert_int_equal(poll_interval_wait(&pace, &pass), PASS_MS);
	/* At a high rate a ring is full soon. */
	pass.period_ns = NS_PER_S / 2000;
	assert_int_equal(poll_interval_wait(&pace, &pass), 31);
	pass.period_ns = NS_PER_S / 10000;
	assert_int_equal(poll_interval_wait(&pace, &pass), PERF_PASS_MS);
}

static void a_ring_that_fills_brings_the_next_pass_near(void **state)
{
	struct poll_interval hooks = timers;
	struct poll_interval_pass pass = at_hz(1);

	(void)state;
	pass.fill = 0.25;
	check(timers, pass, PASS_MOST_MS);
	pass.fill = 0.5;
	check(timers, pass, PASS_MOST_MS / 4);
	pass.fill = 1;
	check(timers, pass, PASS_MOST_MS / 16);
	hooks.hooks = true;
	check(hooks, pass, PASS_LEAST_MS);
}

static void hooks_are_never_put_off(void **state)
{
	struct poll_interval pace = timers;

	(void)state;
	pace.hooks = true;
	check(pace, calm, PASS_HOOKS_MS);
	pace.takes_over = true;
	check(pace, calm, PASS_HOOKS_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timers_are_in_no_hurry),
		cmocka_unit_test(no_thread_that_begins_fills_its_ring),
		cmocka_unit_test(mappings_that_change_are_looked_at_often),
		cmocka_unit_test(events_are_while_threads_begin),
		cmocka_unit_test(a_ring_that_fills_brings_the_next_pass_near),
		cmocka_unit_test(hooks_are_never_put_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
