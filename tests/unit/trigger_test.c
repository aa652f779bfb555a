/* trigger_test.c - conditions over simulated readings: once an episode, never in a quiet hour */
#include "tools/flight/trigger.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)
#define STEP   (SECOND / 4)

enum { QUIET_S = 3600, MEBI = 1024 };

/* A program whose readings are made up. */
static struct world {
	struct trigger_set set;
	struct trigger_condition conditions[TRIGGER_MOST];
	struct trigger_reading reading;
	uint64_t seed;
	/* what it does now, a second */
	double cpu;
	double faults;
	double delay;
	uint64_t rss_kib;
	uint32_t psi;
	int64_t gauge;
	uint64_t noise_pct;
	struct trigger_fired last;
} world;

static void begin(const char *const *texts)
{
	struct err err = {0};
	size_t n = 0;

	memset(&world, 0, sizeof(world));
	for (; texts[n]; n++)
		if (trigger_parse(texts[n], &world.conditions[n], &err) < 0)
			fail_msg("%s", err.text);
	world.set.options = (struct trigger_options){.at = world.conditions,
						     .n = n,
						     .cooldown_ns = 30 * SECOND,
						     .settle_ns = 10 * SECOND,
						     .hourly = 12};
	world.reading.time_ns = 1000 * SECOND;
	world.reading.known = (1U << TRIGGER_GAUGE) - 1;
	world.reading.gauges_known = 1;
	world.seed = 42;
	world.cpu = 0.3;
	world.faults = 200;
	world.delay = 0.02;
	world.rss_kib = 500 * MEBI;
	world.psi = 100;
	world.gauge = 20;
	world.noise_pct = 5;
}

static void begin_one(const char *text)
{
	const char *const texts[] = {text, NULL};

	begin(texts);
}

/* One of -noise..+noise percent of a value. */
static double noisy(double value)
{
	world.seed = world.seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
	return value *
	       (100.0 +
		(double)world.noise_pct * ((double)(world.seed >> 40 & 0xffff) / 32768.0 - 1.0)) /
	       100.0;
}

static size_t step(void)
{
	struct trigger_reading *reading = &world.reading;
	struct trigger_fired fired[TRIGGER_MOST];
	struct trigger_reading seen;
	size_t n;

	reading->time_ns += STEP;
	reading->cpu_ns += (uint64_t)(noisy(world.cpu) * (double)STEP);
	reading->faults += (uint64_t)(noisy(world.faults) / 4);
	reading->majfaults += (uint64_t)(noisy(world.faults) / 400);
	reading->run_delay_ns += (uint64_t)(noisy(world.delay) * (double)STEP);
	seen = *reading;
	seen.rss_kib = (uint64_t)noisy((double)world.rss_kib);
	for (size_t i = 0; i < PSI_FILES; i++)
		for (size_t j = 0; j < PSI_WORDS; j++)
			seen.psi[i][j] = (uint32_t)noisy(world.psi);
	seen.gauges[0] = (int64_t)noisy((double)world.gauge);
	n = trigger_evaluate(&world.set, &seen, fired);
	if (n)
		world.last = fired[n - 1];
	return n;
}

static size_t run(uint64_t seconds)
{
	size_t n = 0;

	for (uint64_t i = 0; i < seconds * 4; i++)
		n += step();
	return n;
}

static const char *const every_kind[] = {"cpu>80% for 2s",
					 "rss>1G",
					 "rss+20%",
					 "rss+200M",
					 "faults>1000/s",
					 "majfaults>10/s",
					 "run_delay>20%",
					 "run_delay>200ms/s for 1s",
					 "psi.memory>10%",
					 "psi.cpu.full>10% for 2s",
					 "psi.io.some>10%",
					 "gauge queue_len>100",
					 NULL};

static void nothing_fires_in_a_quiet_hour(void **state)
{
	(void)state;
	begin(every_kind);
	assert_int_equal(run(QUIET_S), 0);
	for (size_t i = 0; every_kind[i]; i++)
		assert_true(world.set.states[i].seen);
}

static void busy(void)
{
	world.cpu = 1.7;
	world.faults = 5000;
	world.delay = 0.9;
	world.rss_kib = 1300 * MEBI;
	world.psi = 3500;
	world.gauge = 400;
}

static void quiet(void)
{
	world.cpu = 0.3;
	world.faults = 200;
	world.delay = 0.02;
	world.rss_kib = 500 * MEBI;
	world.psi = 100;
	world.gauge = 20;
}

static void each_kind_fires_once_for_one_episode(void **state)
{
	(void)state;
	for (size_t i = 0; every_kind[i]; i++) {
		begin_one(every_kind[i]);
		assert_int_equal(run(60), 0);
		busy();
		if (run(40) != 1)
			fail_msg("'%s' fired %lu times", every_kind[i],
				 (unsigned long)world.set.states[0].n_fired);
		quiet();
		assert_int_equal(run(120), 0);
		busy();
		assert_int_equal(run(40), 1);
		assert_int_equal(world.set.states[0].n_fired, 2);
	}
}

static void all_kinds_together_fire_once_each(void **state)
{
	(void)state;
	begin(every_kind);
	assert_int_equal(run(60), 0);
	busy();
	assert_int_equal(run(200), 12);
	for (size_t i = 0; every_kind[i]; i++)
		assert_int_equal(world.set.states[i].n_fired, 1);
	quiet();
	assert_int_equal(run(QUIET_S), 0);
}

static void a_condition_has_to_hold_as_long_as_it_says(void **state)
{
	(void)state;
	begin_one("cpu>80% for 5s");
	(void)run(10);
	for (int i = 0; i < 20; i++) { /* bursts of 3 s, which a rate makes one longer at most */
		busy();
		assert_int_equal(run(3), 0);
		quiet();
		assert_int_equal(run(3), 0);
	}
	busy();
	assert_int_equal(run(4), 0);
	assert_int_equal(run(4), 1);
}

static void dips_do_not_end_an_episode(void **state)
{
	(void)state;
	begin_one("gauge queue_len>100");
	busy();
	assert_int_equal(run(5), 1);
	for (int i = 0; i < 10; i++) {
		quiet();
		assert_int_equal(run(25), 0);
		busy();
		assert_int_equal(run(5), 0);
	}
	quiet();
	assert_int_equal(run(31), 0);
	busy();
	assert_int_equal(run(5), 1);
}

static void a_ramp_is_one_episode(void **state)
{
	size_t n = 0;

	(void)state;
	begin_one("rss+10%");
	world.noise_pct = 1;
	(void)run(60);
	for (int i = 0; i < 120; i++) { /* 1.5 % a second, for two minutes */
		world.rss_kib += world.rss_kib * 15 / 1000;
		n += run(1);
	}
	assert_int_equal(n, 1);
	assert_int_equal(run(600), 0);
}

static void a_slow_leak_is_found_step_by_step(void **state)
{
	size_t n = 0;

	(void)state;
	begin_one("rss+10%");
	world.noise_pct = 1;
	(void)run(60);
	for (int i = 0; i < 60; i++) { /* from 500 MiB to 1 GiB in an hour */
		world.rss_kib += world.rss_kib * 12 / 1000;
		n += run(60);
	}
	print_message("%zu firings\n", n);
	assert_in_range(n, 5, 9);
}

static void a_program_that_starts_has_not_grown(void **state)
{
	(void)state;
	begin_one("rss+10%");
	world.noise_pct = 1;
	world.rss_kib = 2 * MEBI;
	for (int i = 0; i < 9; i++) {
		world.rss_kib *= 2;
		assert_int_equal(run(1), 0);
	}
	assert_int_equal(run(60), 0);
}

static void no_more_fire_in_an_hour_than_the_limit(void **state)
{
	size_t n = 0;

	(void)state;
	begin_one("gauge queue_len>100");
	world.set.options.hourly = 3;
	for (int i = 0; i < 59; i++) {
		busy();
		n += run(10);
		quiet();
		n += run(50);
	}
	assert_int_equal(n, 3);
	assert_int_equal(world.set.states[0].n_limited, 56);
	busy();
	n = run(10);
	quiet();
	n += run(60);
	busy();
	n += run(10);
	assert_int_equal(n, 1); /* the first of them is an hour ago */
}

static void what_is_not_known_fires_nothing(void **state)
{
	(void)state;
	begin(every_kind);
	world.reading.known = 0;
	world.reading.gauges_known = 0;
	busy();
	assert_int_equal(run(120), 0);
	assert_false(world.set.states[0].seen);
}

static void a_counter_that_steps_back_is_no_rate(void **state)
{
	(void)state;
	begin_one("cpu>80%");
	world.reading.cpu_ns = UINT64_C(1) << 50;
	(void)run(10);
	world.reading.cpu_ns = 0;
	assert_int_equal(run(10), 0);
}

static void below_works_like_above(void **state)
{
	(void)state;
	begin_one("cpu<5% for 5s");
	assert_int_equal(run(60), 0);
	world.cpu = 0.01;
	assert_int_equal(run(60), 1);
	assert_true(world.last.value < 500);
}

static void the_value_comes_with_it(void **state)
{
	char text[TRIGGER_TEXT];

	(void)state;
	begin_one("cpu>80% for 2s");
	world.noise_pct = 0;
	(void)run(10);
	busy();
	assert_int_equal(run(10), 1);
	assert_in_range(world.last.value, 8000, 17000);
	trigger_value(&world.conditions[0], 9340, text);
	assert_string_equal(text, "93.4%");
	assert_string_equal(trigger_unit(&world.conditions[0]), "percent_100");
	begin_one("rss>1G");
	trigger_value(&world.conditions[0], 1300 * MEBI, text);
	assert_string_equal(text, "1.2G");
	begin_one("rss+10%");
	trigger_value(&world.conditions[0], 1234, text);
	assert_string_equal(text, "+12.3%");
	begin_one("faults>1000/s");
	trigger_value(&world.conditions[0], 1500, text);
	assert_string_equal(text, "1500/s");
}

static void expressions_are_read(void **state)
{
	static const struct {
		const char *text;
		enum trigger_of of;
		enum trigger_how how;
		int64_t limit;
		uint64_t for_ns;
	} good[] = {
		{"cpu>80%", TRIGGER_CPU, TRIGGER_ABOVE, 8000, 0},
		{" cpu > 80.5% for 2s", TRIGGER_CPU, TRIGGER_ABOVE, 8050, 2 * SECOND},
		{"rss>1G", TRIGGER_RSS, TRIGGER_ABOVE, 1048576, 0},
		{"rss>1.5M for 500ms", TRIGGER_RSS, TRIGGER_ABOVE, 1536, SECOND / 2},
		{"rss+10%", TRIGGER_RSS, TRIGGER_GROWN_PCT, 1000, 0},
		{"rss+100M", TRIGGER_RSS, TRIGGER_GROWN_BY, 102400, 0},
		{"faults>1000/s", TRIGGER_FAULTS, TRIGGER_ABOVE, 1000, 0},
		{"faults>2K/s", TRIGGER_FAULTS, TRIGGER_ABOVE, 2000, 0},
		{"run_delay>200ms/s", TRIGGER_RUN_DELAY, TRIGGER_ABOVE, 2000, 0},
		{"run_delay>20%", TRIGGER_RUN_DELAY, TRIGGER_ABOVE, 2000, 0},
		{"psi.memory>10%", TRIGGER_PSI_MEMORY, TRIGGER_ABOVE, 1000, 0},
		{"psi.io.full>1%", TRIGGER_PSI_IO, TRIGGER_ABOVE, 100, 0},
		{"gauge queue_len>100", TRIGGER_GAUGE, TRIGGER_ABOVE, 100, 0},
		{"gauge q<5 for 1min", TRIGGER_GAUGE, TRIGGER_BELOW, 5, 60 * SECOND},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct trigger_condition condition = {0};
		struct err err = {0};

		if (trigger_parse(good[i].text, &condition, &err) < 0)
			fail_msg("%s", err.text);
		assert_int_equal(condition.of, good[i].of);
		assert_int_equal(condition.how, good[i].how);
		assert_int_equal(condition.limit, good[i].limit);
		assert_int_equal(condition.for_ns, good[i].for_ns);
	}
}

static void what_is_wrong_is_pointed_at(void **state)
{
	static const struct {
		const char *text;
		const char *where;
	} bad[] = {
		{"", "a quantity is missing at the end (cpu, rss,"},
		{"cpus>80%", "'cpus>80%' at column 1 is not a quantity"},
		{"cpu", "> or < is missing at the end (cpu>80%)"},
		{"cpu=80%", "'=80%' at column 4 is not > or <"},
		{"cpu+80%", "'+80%' at column 4 is not > or <"},
		{"cpu>%", "'%' at column 5 is not a number"},
		{"cpu>-1%", "'-1%' at column 5 is not a number"},
		{"cpu>80", "a unit is missing at the end (cpu>80%)"},
		{"cpu>80x for 2s", "'x for 2s' at column 7 is not a unit"},
		{"rss>1%", "'%' at column 6 is not a unit"},
		{"rss>99999999999999999999T", "the number is too large"},
		{"cpu>80% 2s", "'2s' at column 9 is not 'for' and a duration"},
		{"cpu>80% for", "'for' at column 9 is not 'for' and a duration"},
		{"cpu>80% for ever", "'ever' at column 13 is not a duration (for 2s)"},
		{"cpu>80% for 2s 3s", "'2s 3s' at column 13 is not a duration (for 2s)"},
		{"gauge >3", "'>3' at column 7 is not the name of a gauge"},
		{"gauge Q>3", "'Q>3' at column 7 is not the name of a gauge (a-z"},
		{"gauge a_name_that_is_far_too_long>3", "at column 7 is not the name of a gauge"},
		{"gauge q", "> or < is missing at the end"},
		{"psi>3%", "'psi>3%' at column 1 is not a quantity"},
		{"psi.disk>3%", "'psi.disk>3%' at column 1 is not a quantity"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct trigger_condition condition = {0};
		struct err err = {0};

		assert_int_equal(trigger_parse(bad[i].text, &condition, &err), -EINVAL);
		if (!strstr(err.text, bad[i].where))
			fail_msg("'%s': %s", bad[i].text, err.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_fires_in_a_quiet_hour),
		cmocka_unit_test(each_kind_fires_once_for_one_episode),
		cmocka_unit_test(all_kinds_together_fire_once_each),
		cmocka_unit_test(a_condition_has_to_hold_as_long_as_it_says),
		cmocka_unit_test(dips_do_not_end_an_episode),
		cmocka_unit_test(a_ramp_is_one_episode),
		cmocka_unit_test(a_slow_leak_is_found_step_by_step),
		cmocka_unit_test(a_program_that_starts_has_not_grown),
		cmocka_unit_test(no_more_fire_in_an_hour_than_the_limit),
		cmocka_unit_test(what_is_not_known_fires_nothing),
		cmocka_unit_test(a_counter_that_steps_back_is_no_rate),
		cmocka_unit_test(below_works_like_above),
		cmocka_unit_test(the_value_comes_with_it),
		cmocka_unit_test(expressions_are_read),
		cmocka_unit_test(what_is_wrong_is_pointed_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
