/* budget_test.c - the rate is the highest that fits, whatever samples come to cost */
#include "base/units.h"
#include "sampler/collector/control/overhead.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { STEP_MS = 50, PPM = 10000 };

/* A program, and what sampling it costs. */
struct world {
	struct budget budget;
	struct budget_sums sums;
	double cpu;       /* processors that it keeps busy */
	double signal_ns; /* of the program's CPU, for each signal */
	double cap_hz;    /* signals come no more often; 0: they do */
	double fixed;     /* of the program's CPU, whatever the rate */
	double own_ns;    /* of wick's, for each signal */
	double least_hz;  /* of the rates since it was last put to the most */
	double part;      /* of a signal, that has not come yet */
	uint32_t changes;
};

static const struct budget_source events = {.signal_ns = 30000};

static void begin_as(struct world *world, uint32_t program_ppm, uint32_t collector_ppm, uint32_t hz,
		     const struct budget_source *source)
{
	world->sums = (struct budget_sums){.now_ns = 77 * NS_PER_S};
	world->changes = 0;
	world->cap_hz = source->cap_hz;
	budget_init(&world->budget, program_ppm, collector_ppm, world->sums.now_ns);
	budget_restart(&world->budget, hz, source);
	world->least_hz = world->budget.rate_hz;
}

static void begin(struct world *world, uint32_t hz)
{
	begin_as(world, PPM, 0, hz, &events);
}

static void run_ms(struct world *world, uint64_t ms)
{
	for (uint64_t at = 0; at < ms; at += STEP_MS) {
		double cpu_ns = world->cpu * STEP_MS * 1e6;
		double hz = world->budget.rate_hz;
		double signals;

		if (world->cap_hz > 0 && hz > world->cap_hz)
			hz = world->cap_hz;
		/* What is less than a signal comes with a later step. */
		world->part += cpu_ns / 1e9 * hz;
		signals = floor(world->part);
		world->part -= signals;
		world->sums.now_ns += STEP_MS * NS_PER_MS;
		world->sums.cpu_ns += (uint64_t)cpu_ns;
		world->sums.signals += (uint64_t)signals;
		world->sums.fixed_ns += (uint64_t)(cpu_ns * world->fixed);
		world->sums.cost_ns[BUDGET_PROGRAM] +=
			(uint64_t)(signals * world->signal_ns) + (uint64_t)(cpu_ns * world->fixed);
		world->sums.cost_ns[BUDGET_COLLECTOR] += (uint64_t)(signals * world->own_ns);
		world->changes += budget_step(&world->budget, &world->sums);
		if (world->budget.rate_hz < world->least_hz)
			world->least_hz = world->budget.rate_hz;
	}
}

/* Of the program's CPU, since sums were BEFORE. */
static double cost_since(const struct world *world, const struct budget_sums *before)
{
	return (double)(world->sums.cost_ns[BUDGET_PROGRAM] - before->cost_ns[BUDGET_PROGRAM]) /
	       (double)(world->sums.cpu_ns - before->cpu_ns);
}

static double overall(const struct world *world)
{
	return cost_since(world, &(struct budget_sums){0});
}

static void what_costs_little_is_left_alone(void **state)
{
	struct world world = {.cpu = 1, .signal_ns = 30000};

	(void)state;
	begin(&world, 99);
	run_ms(&world, 120000);
	assert_int_equal(world.changes, 0);
	assert_true(fabs(world.budget.limits[BUDGET_PROGRAM].share - 0.00297) < 0.0005);
}

static void without_a_limit_nothing_is_lowered(void **state)
{
	struct world world = {.cpu = 1, .signal_ns = 300000, .own_ns = 300000};

	(void)state;
	begin_as(&world, 0, 0, 9999, &events);
	run_ms(&world, 10000);
	assert_int_equal(world.changes, 0);
	assert_true(world.budget.rate_hz == 9999);
	assert_false(budget_is_limited(&world.budget));
}

static void the_price_that_is_known_is_kept_to_from_the_start(void **state)
{
	struct world world = {.cpu = 2, .signal_ns = 30000};

	(void)state;
	begin(&world, 4999);
	assert_true(fabs(world.budget.rate_hz - 333) < 1);
	run_ms(&world, 60000);
	assert_true(overall(&world) <= 0.0105);
	assert_true(world.budget.rate_hz > 0.9 * 333 && world.budget.rate_hz < 1.1 * 333);
}

static void what_starts_is_not_judged(void **state)
{
	struct world world = {.cpu = 2, .signal_ns = 3000000};

	(void)state;
	begin(&world, 99);
	run_ms(&world, 950);
	assert_int_equal(world.changes, 0);
	world.signal_ns = 30000;
	run_ms(&world, 20000);
	assert_int_equal(world.changes, 0);
}

static void the_rate_is_the_highest_that_fits(void **state)
{
	/* Samples cost three times what their signals do. */
	struct world world = {.cpu = 2, .signal_ns = 90000};
	struct budget_sums settled;

	(void)state;
	begin(&world, 999);
	run_ms(&world, 15000);
	settled = world.sums;
	run_ms(&world, 45000);
	assert_true(overall(&world) <= 0.012);
	assert_true(cost_since(&world, &settled) > 0.008);
	assert_true(cost_since(&world, &settled) <= 0.0105);
}

static void it_moves_in_small_steps(void **state)
{
	struct world world = {.cpu = 1, .signal_ns = 1000000};
	double before;

	(void)state;
	begin_as(&world, PPM, 0, 9999, &(struct budget_source){0});
	for (int i = 0; i < 200; i++) {
		before = world.budget.rate_hz;
		run_ms(&world, STEP_MS);
		assert_true(world.budget.rate_hz >= before * 0.499);
	}
	world.signal_ns = 1000;
	for (int i = 0; i < 200; i++) {
		before = world.budget.rate_hz;
		run_ms(&world, STEP_MS);
		assert_true(world.budget.rate_hz <= before * 1.401);
	}
}

static void it_is_back_five_seconds_after_the_cost_fell(void **state)
{
	struct world world = {.cpu = 1, .signal_ns = 600000};

	(void)state;
	begin(&world, 999);
	run_ms(&world, 30000);
	assert_true(world.budget.rate_hz < 999.0 / 32);
	world.signal_ns = 3000;
	run_ms(&world, 5000);
	assert_true(world.budget.rate_hz == 999);
}

/* Two signals a second are few in any window. */
static void a_low_rate_does_not_stand_for_ever(void **state)
{
	struct world world = {.cpu = 1, .signal_ns = 5000000};

	(void)state;
	begin(&world, 99);
	run_ms(&world, 30000);
	assert_true(world.budget.rate_hz < 3);
	world.signal_ns = 3000;
	run_ms(&world, 60000);
	assert_true(world.budget.rate_hz == 99);
}

static void what_was_overspent_is_saved_again(void **state)
{
	struct world world = {.cpu = 1.5, .signal_ns = 120000};

	(void)state;
	begin(&world, 999);
	run_ms(&world, 60000);
	assert_true(overall(&world) <= 0.012);
	run_ms(&world, 120000);
	assert_true(overall(&world) <= 0.0105);
}

static void a_rate_that_costs_no_more_is_not_lowered(void **state)
{
	const struct budget_source timers = {.cap_hz = 250, .signal_ns = 3000};
	struct world world = {.cpu = 1, .signal_ns = 8000};

	(void)state;
	/* 999 Hz of 250 signals a second: 0.2 %. */
	begin_as(&world, PPM, 0, 999, &timers);
	run_ms(&world, 20000);
	assert_int_equal(world.changes, 0);
	/* 0.1 % is 125 signals. */
	begin_as(&world, PPM / 10, 0, 999, &timers);
	run_ms(&world, 30000);
	assert_true(world.budget.rate_hz > 100 && world.budget.rate_hz < 150);
}

static void what_no_rate_makes_less_leaves_a_part_to_samples(void **state)
{
	struct world world = {.cpu = 1, .signal_ns = 30000, .fixed = 0.05};

	(void)state;
	begin(&world, 999);
	run_ms(&world, 60000);
	/* A quarter of the limit. */
	assert_true(world.budget.rate_hz > 70 && world.budget.rate_hz < 100);
}

static void what_wick_uses_has_a_limit_of_its_own(void **state)
{
	/* 2 % of a processor on both that are sampled: 20 us a signal, 2 x 999 of them. */
	struct world world = {.cpu = 2, .signal_ns = 3000, .own_ns = 20000};

	(void)state;
	begin_as(&world, PPM, 0, 999, &(struct budget_source){0});
	run_ms(&world, 20000);
	assert_int_equal(world.changes, 0);
	begin_as(&world, 0, 2 * PPM, 999, &(struct budget_source){0});
	run_ms(&world, 20000);
	assert_true(world.budget.rate_hz > 450 && world.budget.rate_hz < 550);
}

static void a_program_that_sleeps_is_not_judged_by_nothing(void **state)
{
	struct world world = {.cpu = 0, .signal_ns = 30000};

	(void)state;
	begin(&world, 99);
	run_ms(&world, 60000);
	assert_int_equal(world.changes, 0);
}

static void the_rate_is_never_below_one(void **state)
{
	struct world world = {.cpu = 1, .signal_ns = 1e9};

	(void)state;
	begin(&world, 99);
	run_ms(&world, 120000);
	assert_true(world.least_hz >= 1);
}

static void another_rate_begins_with_what_was_learnt(void **state)
{
	struct world world = {.cpu = 1, .signal_ns = 60000};

	(void)state;
	begin(&world, 999);
	run_ms(&world, 30000);
	budget_restart(&world.budget, 99, NULL);
	assert_true(world.budget.rate_hz == 99);
	budget_restart(&world.budget, 9999, NULL);
	assert_true(world.budget.rate_hz < 200);
}

static void a_pause_says_nothing(void **state)
{
	struct world world = {.cpu = 1, .signal_ns = 30000};

	(void)state;
	begin(&world, 99);
	run_ms(&world, 5000);
	world.sums.now_ns += 10 * NS_PER_S;
	world.sums.cost_ns[BUDGET_PROGRAM] += NS_PER_S;
	budget_skip(&world.budget, &world.sums);
	run_ms(&world, 5000);
	assert_int_equal(world.changes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_costs_little_is_left_alone),
		cmocka_unit_test(without_a_limit_nothing_is_lowered),
		cmocka_unit_test(the_price_that_is_known_is_kept_to_from_the_start),
		cmocka_unit_test(what_starts_is_not_judged),
		cmocka_unit_test(the_rate_is_the_highest_that_fits),
		cmocka_unit_test(it_moves_in_small_steps),
		cmocka_unit_test(it_is_back_five_seconds_after_the_cost_fell),
		cmocka_unit_test(a_low_rate_does_not_stand_for_ever),
		cmocka_unit_test(what_was_overspent_is_saved_again),
		cmocka_unit_test(a_rate_that_costs_no_more_is_not_lowered),
		cmocka_unit_test(what_no_rate_makes_less_leaves_a_part_to_samples),
		cmocka_unit_test(what_wick_uses_has_a_limit_of_its_own),
		cmocka_unit_test(a_program_that_sleeps_is_not_judged_by_nothing),
		cmocka_unit_test(the_rate_is_never_below_one),
		cmocka_unit_test(another_rate_begins_with_what_was_learnt),
		cmocka_unit_test(a_pause_says_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
