/* tick_aliasing_test.c - the signs of a program in step with the tick, and what only looks so */
#include "base/units.h"
#include "sampler/collector/control/tick_aliasing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS        ((int64_t)1000000)
#define PERIOD_NS UINT64_C(10000000)
#define TICK_NS   UINT64_C(4000000)

/* One process at 100 Hz on a kernel of 250 Hz. */
struct world {
	struct tick_aliasing aliasing;
	struct tick_aliasing_sums sums;
};

static void begin(struct world *world)
{
	world->sums = (struct tick_aliasing_sums){.now_ns = NS_PER_S};
	tick_aliasing_restart(&world->aliasing, &world->sums, PERIOD_NS, TICK_NS);
}

/* N samples of a thread, and half a second. */
static bool window(struct world *world, int n, const struct tick_aliasing_sample *even,
		   const struct tick_aliasing_sample *odd)
{
	for (int i = 0; i < n; i++) {
		const struct tick_aliasing_sample *sample = i % 2 ? odd : even;

		tick_aliasing_add(&world->aliasing, sample);
		world->sums.charged_ns += (uint64_t)sample->cpu_ns;
		world->sums.n_taken++;
	}
	world->sums.now_ns += 500 * NS_PER_MS;
	assert_true(tick_aliasing_due(&world->aliasing, world->sums.now_ns));
	return tick_aliasing_found(&world->aliasing, &world->sums);
}

static const struct tick_aliasing_sample in_step = {
	.weight = 1, .cpu_ns = 10 * MS, .voluntary = 10};
static const struct tick_aliasing_sample early = {.weight = 1, .cpu_ns = 7 * MS, .voluntary = 10};
static const struct tick_aliasing_sample late = {.weight = 1, .cpu_ns = 13 * MS, .voluntary = 10};
static const struct tick_aliasing_sample busy = {.weight = 1, .cpu_ns = 10 * MS};

static void evenly_late_samples_are_a_sign_that_has_to_come_again(void **state)
{
	struct world world = {0};

	(void)state;
	begin(&world);
	assert_false(window(&world, 25, &in_step, &in_step));
	assert_false(window(&world, 25, &in_step, &in_step));
	assert_true(window(&world, 25, &in_step, &in_step));
	begin(&world);
	assert_false(window(&world, 25, &in_step, &in_step));
	assert_false(window(&world, 25, &in_step, &in_step));
	assert_false(window(&world, 25, &early, &late));
	assert_false(window(&world, 25, &in_step, &in_step));
	assert_false(window(&world, 25, &in_step, &in_step));
}

static void threads_that_run_on_and_threads_that_run_at_random_are_not_in_step(void **state)
{
	struct world world = {0};

	(void)state;
	begin(&world);
	for (int i = 0; i < 10; i++)
		assert_false(window(&world, 50, &busy, &busy));
	for (int i = 0; i < 10; i++)
		assert_false(window(&world, 50, &early, &late));
}

static void overruns_above_chance_are_a_sign(void **state)
{
	const struct tick_aliasing_sample whole = {.weight = 1, .cpu_ns = 10 * MS, .voluntary = 1};
	const struct tick_aliasing_sample merged = {.weight = 3, .cpu_ns = 30 * MS, .voluntary = 1};
	struct world world = {0};

	(void)state;
	begin(&world);
	assert_false(window(&world, 20, &whole, &merged));
	assert_false(window(&world, 20, &whole, &merged));
	assert_true(window(&world, 20, &whole, &merged));
	/* exp(-2.5) of the weight is chance. */
	begin(&world);
	for (int i = 0; i < 5; i++) {
		for (int k = 0; k < 36; k++)
			tick_aliasing_add(&world.aliasing, &whole);
		assert_false(window(&world, 2, &whole, &merged));
	}
}

static void charged_cpu_without_samples_is_a_sign(void **state)
{
	struct world world = {0};

	(void)state;
	begin(&world);
	for (int i = 0; i < 3; i++) {
		world.sums.charged_ns += 200 * NS_PER_MS;
		world.sums.now_ns += 500 * NS_PER_MS;
		assert_int_equal(tick_aliasing_found(&world.aliasing, &world.sums), i == 2);
	}
	/* All of it comes with the first tick that meets the thread. */
	begin(&world);
	for (int i = 0; i < 3; i++) {
		world.sums.charged_ns += 150 * NS_PER_MS;
		world.sums.n_taken++;
		world.sums.now_ns += 500 * NS_PER_MS;
		assert_int_equal(tick_aliasing_found(&world.aliasing, &world.sums), i == 2);
	}
	/* What was lost is known to be. */
	begin(&world);
	for (int i = 0; i < 5; i++) {
		world.sums.charged_ns += 200 * NS_PER_MS;
		world.sums.now_ns += 500 * NS_PER_MS;
		world.sums.lost += 19;
		assert_false(tick_aliasing_found(&world.aliasing, &world.sums));
	}
}

static void a_process_that_waits_for_processors_says_nothing(void **state)
{
	struct world world = {0};

	(void)state;
	begin(&world);
	for (int i = 0; i < 10; i++) {
		world.sums.run_delay_ns += 100 * NS_PER_MS;
		assert_false(window(&world, 25, &in_step, &in_step));
	}
	/* Neither that it is in step, nor that it was not. */
	begin(&world);
	for (int i = 0; i < 5; i++) {
		world.sums.run_delay_ns += i % 2 ? 100 * NS_PER_MS : 0;
		assert_int_equal(window(&world, 25, &in_step, &in_step), i == 4);
	}
}

static void a_thread_that_is_preempted_says_nothing(void **state)
{
	const struct tick_aliasing_sample preempted = {
		.weight = 1, .cpu_ns = 10 * MS, .voluntary = 10, .involuntary = 5};
	struct world world = {0};

	(void)state;
	begin(&world);
	for (int i = 0; i < 10; i++)
		assert_false(window(&world, 25, &preempted, &preempted));
}

static void a_window_of_little_cpu_stays_open(void **state)
{
	struct world world = {0};
	int n = 0;

	(void)state;
	begin(&world);
	while (!window(&world, 2, &in_step, &in_step))
		n++;
	/* Ten periods a window. */
	assert_int_equal(n, 14);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(evenly_late_samples_are_a_sign_that_has_to_come_again),
		cmocka_unit_test(
			threads_that_run_on_and_threads_that_run_at_random_are_not_in_step),
		cmocka_unit_test(overruns_above_chance_are_a_sign),
		cmocka_unit_test(charged_cpu_without_samples_is_a_sign),
		cmocka_unit_test(a_process_that_waits_for_processors_says_nothing),
		cmocka_unit_test(a_thread_that_is_preempted_says_nothing),
		cmocka_unit_test(a_window_of_little_cpu_stays_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
