/* sample_filter_test.c - which samples are written, and what their deltas are then */
#include "tools/samples/samples.h"

#include "sampler/collector/metrics/metrics.h"
#include "state_fixture.h"
#include "tools/cli/pattern.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <stdio.h>

static void a_pattern_matches_anywhere_in_a_name(void **state)
{
	static const struct {
		const char *pattern;
		const char *text;
		bool matches;
	} cases[] = {
		{"work", "a-worker", true},
		{"^work", "a-worker", false},
		{"^(io|net)-\\d+$", "net-12", true},
		{"^(io|net)-\\d+$", "net-12x", false},
		{"", "", true},
		{"^$", "", true},
		{"gr\303\274.e", "gr\303\274\303\237e", true},
		{"x", "\xff", false},
		{"x", "\xffx", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pattern *pattern;
		struct err err = {0};

		assert_int_equal(pattern_new(cases[i].pattern, &pattern, &err), 0);
		assert_int_equal(pattern_matches(pattern, cases[i].text, strlen(cases[i].text)),
				 cases[i].matches);
		pattern_free(pattern);
	}
	pattern_free(NULL);
}

static void a_pattern_without_sense_is_refused_with_its_place(void **state)
{
	struct pattern *pattern;
	struct err err = {0};

	(void)state;
	assert_int_equal(pattern_new("ab(c", &pattern, &err), -EINVAL);
	assert_non_null(strstr(err.text, "'ab(c'"));
	assert_non_null(strstr(err.text, "character 5"));
	assert_int_equal(sample_filter_parse_threads("[", &err), -EINVAL);
	assert_int_equal(sample_filter_parse_threads("[a]", &err), 0);
}

static void a_pattern_that_would_take_for_ever_gives_up(void **state)
{
	struct pattern *pattern;
	struct err err = {0};

	(void)state;
	assert_int_equal(pattern_new("^(((a+)+)+)+$", &pattern, &err), 0);
	assert_false(pattern_matches(pattern, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", 31));
	pattern_free(pattern);
}

static void reads_lists_of_states(void **state)
{
	uint32_t states = 0;
	struct err err = {0};

	(void)state;
	assert_int_equal(sample_filter_parse_states("disk,sleeping", &states, &err), 0);
	assert_int_equal(states, 1U << STATE_DISK | 1U << STATE_SLEEPING);
	assert_int_equal(sample_filter_parse_states("running", &states, &err), 0);
	assert_int_equal(states, 1U << STATE_RUNNING);
	assert_int_equal(sample_filter_parse_states("", &states, &err), -EINVAL);
	assert_int_equal(sample_filter_parse_states("running,", &states, &err), -EINVAL);
	assert_int_equal(sample_filter_parse_states("runningx", &states, &err), -EINVAL);
	assert_int_equal(states, 1U << STATE_RUNNING);
}

static void reads_how_many_and_how_often(void **state)
{
	static const char *const bad[] = {"",
					  "0",
					  "x",
					  "20:",
					  "20:x",
					  "20x",
					  "-1",
					  "+1",
					  " 1",
					  "100001",
					  "99999999999999999999",
					  "20:99ms",
					  "20:0s"};
	static const char *const gauges[] = {"a", "b"};
	struct collector_top top = {.by = BY_IO};
	struct err err = {0};

	(void)state;
	assert_int_equal(sample_filter_parse_top("20", &top, &err), 0);
	assert_int_equal(top.n, 20);
	assert_int_equal(top.interval_ns, 10000000000);
	assert_int_equal(sample_filter_parse_top("7:500ms", &top, &err), 0);
	assert_int_equal(top.n, 7);
	assert_int_equal(top.interval_ns, 500000000);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(sample_filter_parse_top(bad[i], &top, &err), -EINVAL);
	assert_int_equal(top.n, 7);
	assert_int_equal(top.by, BY_IO);
	assert_int_equal(sample_filter_parse_by("run_delay", NULL, 0, &top, &err), 0);
	assert_int_equal(top.by, BY_RUN_DELAY);
	assert_int_equal(sample_filter_parse_by("cp", NULL, 0, &top, &err), -EINVAL);
	assert_int_equal(sample_filter_parse_by("b", gauges, 1, &top, &err), -EINVAL);
	assert_int_equal(sample_filter_parse_by("b", gauges, 2, &top, &err), 0);
	assert_int_equal(top.by, BY_GAUGE);
	assert_int_equal(top.gauge, METRIC_BUILTIN + 1);
}

static void refuses_what_would_keep_nothing(void **state)
{
	struct sample_filter_options options = {.states = 1U << STATE_SLEEPING};
	struct err err = {0};

	(void)state;
	assert_int_equal(sample_filter_check(&options, COLLECT_CPU, &err), -EINVAL);
	assert_non_null(strstr(err.text, "-e wall"));
	assert_int_equal(sample_filter_check(&options, COLLECT_CPU | COLLECT_ALLOC, &err), -EINVAL);
	assert_int_equal(sample_filter_check(&options, COLLECT_WALL, &err), 0);
	assert_int_equal(sample_filter_check(&options, COLLECT_LOCK, &err), 0);
	options.states |= 1U << STATE_RUNNING;
	assert_int_equal(sample_filter_check(&options, COLLECT_CPU, &err), 0);
	options.by = "rss";
	assert_int_equal(sample_filter_check(&options, COLLECT_CPU, &err), -EINVAL);
	options.top.n = 1;
	assert_int_equal(sample_filter_check(&options, COLLECT_CPU, &err), 0);
}

/* A sample of main > TEXT, whose first metric is VALUE, DELTA as the collector says it. */
struct made {
	struct frame frames[2];
	struct sample sample;
};

static struct sample *make(struct made *made, pid_t tid, const char *text, int64_t value,
			   int64_t delta)
{
	*made = (struct made){.frames = {{.symbol = text}, {.symbol = "main"}},
			      .sample = {.process = 1,
					 .tid = tid,
					 .weight = 2,
					 .n_metrics = 2,
					 .metrics = {{value, delta}, {-value, -delta}},
					 .n_frames = 2,
					 .frames = made->frames}};
	return &made->sample;
}

static void keeps_stacks_with_a_frame_of_the_name(void **state)
{
	const struct sample_filter_options options = {.only_under = "work"};
	struct sample_filter *filter = *state;
	struct err err = {0};
	struct made made;

	assert_int_equal(sample_filter_init(filter, &options, &err), 0);
	assert_true(sample_filter_keeps(filter, make(&made, 1, "work", 0, 0)));
	assert_false(sample_filter_keeps(filter, make(&made, 1, "worker", 0, 0)));
	assert_false(sample_filter_keeps(filter, make(&made, 1, NULL, 0, 0)));
	(void)make(&made, 1, "leaf", 0, 0);
	made.frames[1].symbol = "work";
	assert_true(sample_filter_keeps(filter, &made.sample));
	assert_int_equal(filter->filtered[SERIES_CLOCK].samples, 2);
	assert_int_equal(filter->filtered[SERIES_CLOCK].weight, 4);
	assert_int_equal(filter->filtered[SERIES_MEMORY].samples, 0);
}

static void a_function_is_spelt_as_in_a_file(void **state)
{
	static const char *const spellings[] = {"(anonymous namespace)::f", "{anonymous}::f"};
	struct err err = {0};
	struct made made;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const struct sample_filter_options options = {.only_under = spellings[i]};
		struct sample_filter filter;

		assert_int_equal(sample_filter_init(&filter, &options, &err), 0);
		assert_true(sample_filter_keeps(&filter,
						make(&made, 1, "(anonymous namespace)::f", 0, 0)));
		assert_false(sample_filter_keeps(&filter, make(&made, 1, "f", 0, 0)));
		sample_filter_release(&filter);
	}
}

static void notes_what_there_was_instead(void **state)
{
	const struct sample_filter_options options = {.only_under = "f", .threads = "^w"};
	struct sample_filter *filter = *state;
	struct collector_filter keep;
	struct err err = {0};
	struct made made;

	assert_int_equal(sample_filter_init(filter, &options, &err), 0);
	assert_false(sample_filter_keeps(filter, make(&made, 1, "B::f(int)", 0, 0)));
	assert_string_equal(filter->near, "B::f(int)");
	assert_false(filter->a_stack_matched);
	assert_true(sample_filter_keeps(filter, make(&made, 1, "f", 0, 0)));
	assert_true(filter->a_stack_matched);
	keep = sample_filter_for_collector(filter);
	for (unsigned i = 0; i < 20; i++) {
		char name[8];

		(void)snprintf(name, sizeof(name), "n-%u", i / 4);
		assert_false(keep.names(keep.context, name, strlen(name)));
	}
	assert_string_equal(filter->others[0], "n-0");
	assert_string_equal(filter->others[2], "n-2");
	assert_false(filter->a_thread_matched);
	assert_true(keep.names(keep.context, "worker", 6));
	assert_true(filter->a_thread_matched);
}

static void each_series_has_its_own_deltas(void **state)
{
	const struct sample_filter_options options = {.only_under = "work"};
	struct sample_filter *filter = *state;
	struct err err = {0};
	struct made made;
	struct sample *sample;

	assert_int_equal(sample_filter_init(filter, &options, &err), 0);
	assert_true(sample_filter_keeps(filter, make(&made, 1, "work", 100, 7)));
	sample = make(&made, 1, "work", 130, 30);
	sample->event = EVENT_ALLOC;
	assert_true(sample_filter_keeps(filter, sample));
	assert_int_equal(sample->metrics[0].delta, 0);
	assert_true(sample_filter_keeps(filter, make(&made, 1, "work", 150, 20)));
	assert_int_equal(made.sample.metrics[0].delta, 50);
}

/* A program's gauge can be any number. */
static void a_delta_wraps_where_it_does_not_fit(void **state)
{
	const struct sample_filter_options options = {.only_under = "work"};
	struct sample_filter *filter = *state;
	struct err err = {0};
	struct made made;

	assert_int_equal(sample_filter_init(filter, &options, &err), 0);
	assert_true(sample_filter_keeps(filter, make(&made, 1, "work", INT64_MAX, 1)));
	assert_true(sample_filter_keeps(filter, make(&made, 1, "work", -2, 1)));
	assert_int_equal(made.sample.metrics[0].delta, INT64_MAX);
	assert_int_equal(made.sample.metrics[1].delta, -INT64_MAX);
}

static void deltas_are_against_what_was_written(void **state)
{
	const struct sample_filter_options options = {.only_under = "work"};
	struct sample_filter *filter = *state;
	struct err err = {0};
	struct made made;

	assert_int_equal(sample_filter_init(filter, &options, &err), 0);
	assert_false(sample_filter_keeps(filter, make(&made, 1, "idle", 5, 0)));
	assert_true(sample_filter_keeps(filter, make(&made, 1, "work", 9, 4)));
	assert_int_equal(made.sample.metrics[0].delta, 0); /* the first that is written */
	assert_true(sample_filter_keeps(filter, make(&made, 2, "work", 3, 0)));
	assert_false(sample_filter_keeps(filter, make(&made, 1, "idle", 20, 11)));
	assert_true(sample_filter_keeps(filter, make(&made, 1, "work", 21, 1)));
	assert_int_equal(made.sample.metrics[0].delta, 12);
	assert_int_equal(made.sample.metrics[1].delta, -12);
	/* Another thread with the number of the first. */
	assert_true(sample_filter_keeps(filter, make(&made, 1, "work", 1, 0)));
	assert_int_equal(made.sample.metrics[0].delta, 0);
	assert_int_equal(made.sample.metrics[1].delta, 0);
}

static void keeps_everything_that_was_not_asked_about(void **state)
{
	const struct sample_filter_options options = {0};
	struct sample_filter *filter = *state;
	struct collector_filter keep;
	struct err err = {0};
	struct made made;

	assert_int_equal(sample_filter_init(filter, &options, &err), 0);
	assert_true(sample_filter_keeps(filter, make(&made, 1, "any", 9, 4)));
	assert_int_equal(made.sample.metrics[0].delta, 4);
	keep = sample_filter_for_collector(filter);
	assert_null(keep.names);
	assert_int_equal(keep.states, 0);
	assert_int_equal(keep.top.n, 0);
}

static void gives_the_collector_the_pattern(void **state)
{
	const struct sample_filter_options options = {
		.threads = "^w", .states = 1, .top = {.n = 3}};
	struct sample_filter *filter = *state;
	struct collector_filter keep;
	struct err err = {0};

	assert_int_equal(sample_filter_init(filter, &options, &err), 0);
	keep = sample_filter_for_collector(filter);
	assert_true(keep.names(keep.context, "worker", 6));
	assert_false(keep.names(keep.context, "a-worker", 8));
	assert_int_equal(keep.states, 1);
	assert_int_equal(keep.top.n, 3);
}

STATE_FIXTURE(sample_filter, filter, sample_filter_release(filter))

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pattern_matches_anywhere_in_a_name),
		cmocka_unit_test(a_pattern_without_sense_is_refused_with_its_place),
		cmocka_unit_test(a_pattern_that_would_take_for_ever_gives_up),
		cmocka_unit_test(reads_lists_of_states),
		cmocka_unit_test(reads_how_many_and_how_often),
		cmocka_unit_test(refuses_what_would_keep_nothing),
		own_test(keeps_stacks_with_a_frame_of_the_name),
		cmocka_unit_test(a_function_is_spelt_as_in_a_file),
		own_test(notes_what_there_was_instead),
		own_test(each_series_has_its_own_deltas),
		own_test(a_delta_wraps_where_it_does_not_fit),
		own_test(deltas_are_against_what_was_written),
		own_test(keeps_everything_that_was_not_asked_about),
		own_test(gives_the_collector_the_pattern),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
