/* budget_test.c - the rate follows the cost: above, far above, below, and when it is not the rate
 */
#include "sampler/collector/budget.h"

#include "sampler/collector/limits.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { STEP_MS = 50, PPM = 10000 };

/* A program, and what sampling it costs at the rate that was asked for. */
struct world {
	struct budget budget;
	struct budget_sums sums;
	double cpu;   /* processors that it keeps busy */
	double falls; /* cost over its CPU that falls with the rate, and what does not */
	double fixed;
	bool known; /* which of it falls; else all of it may */
	uint32_t changes;
};

static void begin(struct world *world, uint32_t hz)
{
	world->sums = (struct budget_sums){.now_ns = 77 * NS_PER_S};
	world->changes = 0;
	budget_init(&world->budget, PPM, hz, world->sums.now_ns);
}

static void run_ms(struct world *world, uint64_t ms)
{
	for (uint64_t at = 0; at < ms; at += STEP_MS) {
		double cpu_ns = world->cpu * STEP_MS * 1e6;
		double falls = world->falls / (double)(1U << world->budget.level);
		double part = world->fixed + falls;

		world->sums.now_ns += STEP_MS * NS_PER_MS;
		world->sums.cpu_ns += (uint64_t)cpu_ns;
		world->sums.cost_ns += (uint64_t)(cpu_ns * part);
		world->sums.falls_ns += (uint64_t)(cpu_ns * (world->known ? falls : part));
		world->changes += budget_step(&world->budget, &world->sums);
	}
}

static double overall(const struct world *world)
{
	return (double)world->sums.cost_ns / (double)world->sums.cpu_ns;
}

static void what_costs_little_is_left_alone(void **state)
{
	struct world world = {.cpu = 1, .falls = 0.009};

	(void)state;
	begin(&world, 99);
	run_ms(&world, 120000);
	assert_int_equal(world.changes, 0);
	assert_true(fabs(world.budget.share - 0.009) < 1e-4);
}

static void nothing_is_judged_by_how_it_begins(void **state)
{
	struct world world = {.cpu = 2, .falls = 0.5};

	(void)state;
	begin(&world, 999);
	run_ms(&world, 2400);
	assert_int_equal(world.changes, 0);
	run_ms(&world, 200);
	assert_int_equal(world.changes, 1);
	/* What a start costs is no reason, if it ends. */
	begin(&world, 999);
	run_ms(&world, 1400);
	world.falls = 0.0045;
	run_ms(&world, 20000);
	assert_int_equal(world.changes, 0);
}

static void far_above_is_halved_several_times_at_once(void **state)
{
	struct world world = {.cpu = 2, .falls = 0.10};

	(void)state;
	begin(&world, 999);
	run_ms(&world, 3100);
	assert_true(world.budget.level >= 3);
	run_ms(&world, 56900);
	assert_true(overall(&world) <= 0.012);
	/* All that may be is used: it is not thinned more than it has to be. */
	assert_true(world.budget.share > 0.004 && world.budget.share <= 0.01);
}

static void what_was_overspent_is_saved_again(void **state)
{
	struct world world = {.cpu = 1.5, .falls = 0.12};

	(void)state;
	begin(&world, 999);
	run_ms(&world, 60000);
	assert_true(overall(&world) <= 0.012);
	run_ms(&world, 120000);
	assert_true(overall(&world) <= 0.0105);
}

static void the_rate_comes_back_when_the_load_goes(void **state)
{
	struct world world = {.cpu = 2, .falls = 0.04};

	(void)state;
	begin(&world, 999);
	run_ms(&world, 20000);
	assert_true(world.budget.level >= 2);
	world.falls = 0.002;
	run_ms(&world, 60000);
	assert_int_equal(world.budget.level, 0);
}

static void a_rate_that_was_raised_in_vain_waits_longer_each_time(void **state)
{
	/* Just less than half of the limit lowered, just more than it one step up: the worst. */
	struct world world = {.cpu = 1, .falls = 0.0198};
	uint32_t first;

	(void)state;
	begin(&world, 999);
	for (int i = 0; i < 60; i++) {
		world.falls = i % 2 ? 0.0195 : 0.0205;
		run_ms(&world, 2500);
	}
	first = world.changes;
	for (int i = 0; i < 120; i++) {
		world.falls = i % 2 ? 0.0195 : 0.0205;
		run_ms(&world, 2500);
	}
	assert_true(world.changes - first <= first);
	assert_true(overall(&world) <= 0.0105);
}

static void a_halving_that_saves_nothing_is_undone(void **state)
{
	struct world world = {.cpu = 1, .fixed = 0.05, .falls = 0.001};

	(void)state;
	begin(&world, 999);
	run_ms(&world, 600000);
	assert_int_equal(world.budget.level, 0);
	/* Tried again now and then, for it may have changed, and less and less often. */
	assert_true(world.changes >= 2 && world.changes <= 20);
	world.fixed = 0;
	world.falls = 0.08;
	run_ms(&world, 400000);
	assert_true(world.budget.level >= 3);
}

static void what_does_not_fall_leaves_a_part_to_samples(void **state)
{
	struct world world = {.cpu = 1, .fixed = 0.02, .falls = 0.08};

	(void)state;
	begin(&world, 9999);
	run_ms(&world, 60000);
	/* 0.08 / 2^5 is a quarter of the limit; going on would save next to nothing. */
	assert_in_range(world.budget.level, 4, 7);
}

static void what_cannot_fall_lowers_nothing(void **state)
{
	struct world world = {.cpu = 1, .fixed = 0.05, .falls = 0.002, .known = true};

	(void)state;
	begin(&world, 999);
	run_ms(&world, 120000);
	assert_int_equal(world.changes, 0);
	/* What may fall is halved to a quarter of the limit, and no further. */
	begin(&world, 999);
	world.falls = 0.016;
	run_ms(&world, 5000);
	assert_int_equal(world.budget.level, 3);
}

static void a_program_that_sleeps_is_not_judged_by_nothing(void **state)
{
	struct world world = {.cpu = 0, .falls = 1};

	(void)state;
	begin(&world, 99);
	run_ms(&world, 60000);
	assert_int_equal(world.changes, 0);
	/* Its second costs 0.4 ms of ours: less than 1 % of what it is taken to use. */
	for (int i = 0; i < 1200; i++) {
		world.sums.now_ns += STEP_MS * NS_PER_MS;
		world.sums.cost_ns += 20000;
		world.changes += budget_step(&world.budget, &world.sums);
	}
	assert_int_equal(world.changes, 0);
}

static void the_rate_is_never_below_one(void **state)
{
	struct world world = {.cpu = 1, .falls = 1000};

	(void)state;
	begin(&world, 99);
	run_ms(&world, 120000);
	assert_int_equal(world.budget.level, 6);
	begin(&world, 1);
	run_ms(&world, 60000);
	assert_int_equal(world.budget.level, 0);
}

static void off_is_off(void **state)
{
	struct world world = {.cpu = 1, .falls = 10};

	(void)state;
	begin(&world, 999);
	world.budget.limit_ppm = 0;
	run_ms(&world, 60000);
	assert_int_equal(world.changes, 0);
	assert_int_equal(budget_pass_ms(&world.budget, 1000000000, 1, 50, 400), 50);
}

static void another_rate_is_judged_anew(void **state)
{
	struct world world = {.cpu = 1, .falls = 0.04};

	(void)state;
	begin(&world, 999);
	run_ms(&world, 30000);
	assert_true(world.budget.level >= 2);
	budget_restart(&world.budget, 99, world.sums.now_ns);
	world.falls = 0.004;
	assert_int_equal(world.budget.level, 0);
	assert_int_equal(world.budget.most, 6);
	world.changes = 0;
	run_ms(&world, 60000);
	assert_int_equal(world.changes, 0);
}

static void sums_that_fall_are_survived(void **state)
{
	struct world world = {.cpu = 1, .falls = 0.04};

	(void)state;
	begin(&world, 999);
	run_ms(&world, 10000);
	world.sums.cpu_ns = 0;
	world.sums.cost_ns = 0;
	run_ms(&world, 10000);
	assert_true(world.budget.level <= world.budget.most);
}

static void looks_may_take_a_quarter(void **state)
{
	struct world world = {0};

	(void)state;
	begin(&world, 99);
	assert_int_equal(budget_pass_ms(&world.budget, 30000, 1, 50, 400), 50);
	assert_int_equal(budget_pass_ms(&world.budget, 400000, 2, 50, 400), 80);
	assert_int_equal(budget_pass_ms(&world.budget, 400000, 2, 50, 64), 64);
	assert_int_equal(budget_pass_ms(&world.budget, 400000, 0.01, 50, 400), 400);
	assert_int_equal(budget_pass_ms(&world.budget, 30000, 0, 50, 400), 240);
	assert_int_equal(budget_pass_ms(&world.budget, 400000, 2, 5, 5), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_costs_little_is_left_alone),
		cmocka_unit_test(nothing_is_judged_by_how_it_begins),
		cmocka_unit_test(far_above_is_halved_several_times_at_once),
		cmocka_unit_test(what_was_overspent_is_saved_again),
		cmocka_unit_test(the_rate_comes_back_when_the_load_goes),
		cmocka_unit_test(a_rate_that_was_raised_in_vain_waits_longer_each_time),
		cmocka_unit_test(a_halving_that_saves_nothing_is_undone),
		cmocka_unit_test(what_does_not_fall_leaves_a_part_to_samples),
		cmocka_unit_test(what_cannot_fall_lowers_nothing),
		cmocka_unit_test(a_program_that_sleeps_is_not_judged_by_nothing),
		cmocka_unit_test(the_rate_is_never_below_one),
		cmocka_unit_test(off_is_off),
		cmocka_unit_test(another_rate_is_judged_anew),
		cmocka_unit_test(sums_that_fall_are_survived),
		cmocka_unit_test(looks_may_take_a_quarter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
