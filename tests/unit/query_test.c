/* query_test.c - the words of a query: times, measures, dimensions, rules of frames to leave out */
#include "flamescope/query/query.h"

#include "flamescope/query/internal.h"
#include "folder_fixture.h"
#include "tests/unit/flamescope/hand_profile.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const uint64_t ms = 1000000;

static void assert_range(const char *text, uint64_t from_ns, uint64_t to_ns)
{
	struct query query = {0};
	struct err err = {0};

	assert_int_equal(query_parse_range(&query, text, &err), 0);
	assert_int_equal(query.n_ranges, 1);
	assert_int_equal(query.ranges[0].from_ns, from_ns);
	assert_int_equal(query.ranges[0].to_ns, to_ns);
	assert_int_equal(query.ranges[0].every.every_ns, 0);
}

static void assert_no_range(const char *text)
{
	struct query query = {0};
	struct err err = {0};

	assert_int_equal(query_parse_range(&query, text, &err), -EINVAL);
	assert_int_equal(query.n_ranges, 0);
	assert_non_null(strstr(err.text, "try: "));
}

static void reads_ranges_of_time(void **state)
{
	(void)state;
	assert_range("10s-20s", 10000 * ms, 20000 * ms);
	assert_range("1.5-2.5", 1500 * ms, 2500 * ms);
	assert_range("0.000000001-1", 1, 1000 * ms);
	assert_range("10-20s", 10000 * ms, 20000 * ms);
	assert_range("50-100ms", 50 * ms, 100 * ms);
	assert_range("+90s-", 90000 * ms, UINT64_MAX);
	assert_range("-100ms", 0, 100 * ms);
	assert_range("1.5m-0.1h", 90000 * ms, 360000 * ms);
	assert_range("7us-9us", 7000, 9000);
}

static void refuses_what_is_no_range(void **state)
{
	static const char *const bad[] = {
		"",
		"-",
		"10",
		"20-10",
		"5s-5s",
		"a-b",
		"1-2x",
		"1-2-3",
		"1--2",
		"99999999999999999999-",
		"1s-2s@",
		"1s-2s@5",
		"1-2@0-2s",
		"1-2@9ms-3ms",
		"1-2@0-100ms@",
		"30000000000h-",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_no_range(bad[i]);
}

static void reads_rectangles_with_rows_of_their_own(void **state)
{
	struct query query = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(query_parse_range(&query, "10-20@0-100ms", &err), 0);
	assert_int_equal(query_parse_range(&query, "30-31@500ms-600ms", &err), 0);
	assert_int_equal(query.n_ranges, 2);
	assert_int_equal(query.ranges[0].every.every_ns, 1000 * ms);
	assert_int_equal(query.ranges[0].every.from_ns, 0);
	assert_int_equal(query.ranges[0].every.to_ns, 100 * ms);
	assert_int_equal(query.ranges[1].every.from_ns, 500 * ms);
	assert_int_equal(query.every.every_ns, 0);
}

static void reads_a_part_of_every_period(void **state)
{
	struct query query = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(query_parse_every(&query, "100ms:20-30ms", &err), 0);
	assert_int_equal(query.every.every_ns, 100 * ms);
	assert_int_equal(query.every.from_ns, 20 * ms);
	assert_int_equal(query.every.to_ns, 30 * ms);
	assert_int_equal(query_parse_every(&query, "1s:0-2s", &err), -EINVAL);
	assert_int_equal(query_parse_every(&query, "0s:0-0", &err), -EINVAL);
	assert_int_equal(query_parse_every(&query, "1s", &err), -EINVAL);
}

static void takes_64_ranges_and_no_more(void **state)
{
	struct query query = {0};
	struct err err = {0};

	(void)state;
	for (size_t i = 0; i < QUERY_MAX_RANGES; i++)
		assert_int_equal(query_parse_range(&query, "1-2", &err), 0);
	assert_int_equal(query_parse_range(&query, "1-2", &err), -E2BIG);
}

static void assert_measure(const char *word, enum query_measure measure, const char *metric)
{
	struct query query = {0};
	struct err err = {0};
	char text[64];

	(void)strcpy(text, word);
	assert_int_equal(query_parse_measure(&query, text, &err), 0);
	assert_true(query.has_measure);
	assert_int_equal(query.measure, measure);
	if (metric)
		assert_string_equal(query.metric, metric);
	else
		assert_null(query.metric);
}

static void reads_measures(void **state)
{
	struct query query = {0};
	char nothing[] = ":mean";
	char strange[] = "a b";
	struct err err = {0};

	(void)state;
	assert_measure("samples", QUERY_SAMPLES, NULL);
	assert_measure("period", QUERY_WEIGHT, NULL);
	assert_measure("weight", QUERY_WEIGHT, NULL); /* as it was called */
	assert_measure("rss_kib", QUERY_VALUE, "rss_kib");
	assert_measure("rss_kib:mean", QUERY_MEAN, "rss_kib");
	assert_measure("rss_kib_delta", QUERY_DELTA, "rss_kib");
	assert_measure("rss_kib:gain", QUERY_GAIN, "rss_kib");
	assert_measure("rss_kib:loss", QUERY_LOSS, "rss_kib");
	assert_measure("x_delta:value", QUERY_VALUE, "x_delta");
	assert_int_equal(query_parse_measure(&query, nothing, &err), -EINVAL);
	assert_int_equal(query_parse_measure(&query, strange, &err), -EINVAL);
}

static void names_the_values_of_dimensions(void **state)
{
	struct hand_profile *hand = *state;
	struct dimension dimension;
	struct err err = {0};

	hand_profile_add(hand, &(struct hand_sample){.comm = "io", .pid = 7, .tid = 8});
	hand_profile_add(hand, &(struct hand_sample){.comm = "app", .pid = 7, .tid = 7});
	hand_profile_add(hand, &(struct hand_sample){.comm = "io", .pid = 7, .tid = 9, .cpu = 3});
	assert_int_equal(dimension_init(&dimension, &hand->profile, "thread", NULL, &err), 0);
	assert_string_equal(dimension.labels[dimension_value(&dimension, 0)], "io/8");
	dimension_release(&dimension);
	/* Named by its main thread, which came second. */
	assert_int_equal(dimension_init(&dimension, &hand->profile, "process", NULL, &err), 0);
	assert_int_equal(dimension.n_values, 1);
	assert_string_equal(dimension.labels[dimension_value(&dimension, 0)], "app/7");
	dimension_release(&dimension);
	assert_int_equal(dimension_init(&dimension, &hand->profile, "comm", NULL, &err), 0);
	assert_int_equal(dimension.n_values, 2);
	assert_int_equal(dimension_value(&dimension, 0), dimension_value(&dimension, 2));
	dimension_release(&dimension);
	assert_int_equal(dimension_init(&dimension, &hand->profile, "cpu", NULL, &err), 0);
	assert_string_equal(dimension.labels[dimension_value(&dimension, 2)], "3");
	dimension_release(&dimension);
	assert_int_equal(dimension_init(&dimension, &hand->profile, "wait", NULL, &err), 0);
	dimension_release(&dimension);
	assert_int_equal(dimension_init(&dimension, &hand->profile, "colour", NULL, &err), -ENOENT);
	assert_non_null(strstr(err.text, "thread, comm"));
	assert_non_null(strstr(err.text, "state"));
}

static void assert_label(const struct hand_profile *hand, const char *name, size_t sample,
			 const char *label)
{
	struct dimension dimension;
	struct err err = {0};

	if (dimension_init(&dimension, &hand->profile, name, "bytes", &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(dimension.labels[dimension_value(&dimension, sample)], label);
	dimension_release(&dimension);
}

static void tells_samples_apart_by_a_metric(void **state)
{
	struct hand_profile *hand = *state;
	struct dimension dimension;
	struct err err = {0};

	hand_profile_add(hand,
			 &(struct hand_sample){.measured = true, .value = 250 << 20, .delta = 1});
	hand_profile_add(hand, &(struct hand_sample){.measured = true, .value = -5, .delta = -3});
	hand_profile_add(hand, &(struct hand_sample){.measured = true, .value = 0});
	hand_profile_add(hand, &(struct hand_sample){0});
	assert_label(hand, "bytes:class", 0, "100s MiB");
	assert_label(hand, "bytes:class", 1, "-1s B");
	assert_label(hand, "bytes:class", 2, "0");
	assert_label(hand, "bytes:class", 3, "");
	assert_label(hand, "sign", 0, "gain");
	assert_label(hand, "bytes:sign", 1, "loss");
	assert_label(hand, "sign", 2, "unchanged");
	assert_label(hand, "sign", 3, "");
	/* Where no metric's changes are counted there is no sign. */
	assert_int_equal(dimension_init(&dimension, &hand->profile, "sign", NULL, &err), -ENOENT);
	assert_non_null(strstr(err.text, "try: --metric NAME:delta"));
	err = (struct err){0};
	assert_int_equal(dimension_init(&dimension, &hand->profile, "bytes", NULL, &err), -ENOENT);
	assert_non_null(strstr(err.text, "bytes:class"));
	assert_int_equal(dimension_init(&dimension, &hand->profile, "byte:class", NULL, &err),
			 -ENOENT);
}

/* By name: samples of a process 7 in order, as COMM:TID, and what it is called. */
static void names_processes_as_most_of_their_samples(void **state)
{
	static const struct {
		struct {
			const char *comm;
			int32_t tid;
		} samples[8];
		const char *label;
	} cases[] = {
		/* it was a shell before exec, and renames itself once more at its end */
		{{{"sh", 7}, {"app", 7}, {"app", 7}, {"bye", 7}}, "app/7"},
		{{{"app", 7}, {"app", 7}, {"sh", 7}}, "app/7"},
		{{{"a", 7}, {"b", 7}}, "a/7"},
		/* threads that are called otherwise, however busy they are */
		{{{"io", 8}, {"io", 8}, {"io", 9}, {"sh", 7}, {"app", 7}, {"app", 7}}, "app/7"},
		/* the main thread is never seen */
		{{{"big", 8}, {"big", 8}, {"io", 9}, {"io", 10}, {"io", 11}}, "io/7"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hand_profile hand;
		struct dimension dimension;
		struct err err = {0};

		hand_profile_init(&hand, 0);
		hand_profile_add(&hand, &(struct hand_sample){.comm = "app", .pid = 6, .tid = 6});
		for (size_t j = 0; cases[i].samples[j].comm; j++)
			hand_profile_add(&hand,
					 &(struct hand_sample){.comm = cases[i].samples[j].comm,
							       .pid = 7,
							       .tid = cases[i].samples[j].tid});
		assert_int_equal(dimension_init(&dimension, &hand.profile, "process", NULL, &err),
				 0);
		assert_int_equal(dimension.n_values, 2);
		assert_string_equal(dimension.labels[dimension_value(&dimension, 0)], "app/6");
		for (size_t j = 1; j < hand.profile.n_samples; j++)
			assert_string_equal(dimension.labels[dimension_value(&dimension, j)],
					    cases[i].label);
		dimension_release(&dimension);
		hand_profile_release(&hand);
	}
}

/* The profile has the metric rss_kib and the words state and wait; HINT: how the message ends. */
static void says_what_brings_what_is_missing(void **state)
{
	static const struct {
		bool dimension;
		const char *word;
		const char *hint;
	} rows[] = {
		{false, "alloc", "they have samples, period, rss_kib, try: wick record -e alloc"},
		{false, "heap_live_bytes", ", try: wick record -e alloc"},
		{false, "lock", ", try: wick record -e lock"},
		{false, "cycles", ", try: wick record -e cycles"},
		{false, "rss", ", try: --metric rss_kib"},
		{false, "swap", ", try: wick record --metrics auto,swap_kib"},
		{false, "swap_kib", ", try: wick record --metrics auto,swap_kib"},
		{false, "queue_len", ", try: wick record --metrics auto,queue_len"},
		{true, "on", "event, state, wait, try: wick record -e wall"},
		{true, "op", ", try: wick record -e alloc"},
		{true, "waker", ", try: wick record -e lock"},
		{true, "module", ", try: wick report --per module"},
		{true, "colour", "cpu, event, state, wait"},
		{true, "req",
		 ", try: a program that includes wick.h, or publishes its trace context"},
		{true, "tier",
		 ", try: a program that includes wick.h, or publishes its trace context"},
	};
	struct hand_profile *hand = *state;

	free((void *)(uintptr_t)hand->profile.strings[hand->profile.metrics[0].name]);
	hand->profile.strings[hand->profile.metrics[0].name] = strdup("rss_kib");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct dimension dimension;
		struct err err = {0};
		const char *end;
		int r = rows[i].dimension ? dimension_init(&dimension, &hand->profile, rows[i].word,
							   NULL, &err)
					  : missing_metric(&hand->profile, rows[i].word, &err);

		assert_int_equal(r, -ENOENT);
		end = err.text + strlen(err.text) - strlen(rows[i].hint);
		assert_true(end > err.text);
		assert_string_equal(end, rows[i].hint);
	}
}

static void a_long_list_of_what_there_is_leaves_room_for_the_hint(void **state)
{
	const char *strings[PROFILE_MAX_METRICS];
	struct profile profile = {.strings = strings, .n_metrics = PROFILE_MAX_METRICS};
	struct err err = {0};

	(void)state;
	for (uint32_t i = 0; i < PROFILE_MAX_METRICS; i++) {
		strings[i] = "a_gauge_of_23_characters";
		profile.metrics[i].name = i;
	}
	assert_int_equal(missing_metric(&profile, "alloc", &err), -ENOENT);
	assert_non_null(strstr(err.text, ", try: wick record -e alloc"));
}

static void a_request_is_its_span(void **state)
{
	struct hand_profile *hand = *state;

	hand_profile_add(hand, &(struct hand_sample){.state = "00f067aa0ba902b7"});
	free((void *)(uintptr_t)hand->profile.strings[hand->profile.tags[0].name]);
	hand->profile.strings[hand->profile.tags[0].name] = strdup("span");
	assert_label(hand, "req", 0, "00f067aa0ba902b7");
	/* what is called so itself comes first */
	free((void *)(uintptr_t)hand->profile.strings[hand->profile.tags[1].name]);
	hand->profile.strings[hand->profile.tags[1].name] = strdup("req");
	assert_label(hand, "req", 0, "");
}

static void counts_values_without_room_as_others(void **state)
{
	struct hand_profile *hand = *state;
	struct dimension dimension;
	struct err err = {0};

	hand_profile_add(hand, &(struct hand_sample){.state = "running"});
	hand->profile.tags[0].codes[0] = PROFILE_TAG_OTHER;
	assert_int_equal(dimension_init(&dimension, &hand->profile, "state", NULL, &err), 0);
	assert_string_equal(dimension.labels[dimension_value(&dimension, 0)], "[other]");
	dimension_release(&dimension);
}

static bool elides(const char *pattern, const char *frame)
{
	struct matcher *matcher = NULL;
	struct err err = {0};
	int r;

	assert_int_equal(matcher_new(pattern, &matcher, &err), 0);
	r = matcher_matches(matcher, frame, &err);
	matcher_free(matcher);
	assert_true(r >= 0);
	return r > 0;
}

static void ships_rules_for_plumbing_only(void **state)
{
	static const char *const plumbing[] = {
		"std::function<void ()>::operator()() const",
		"std::function<void (int)>::operator()",
		"std::_Function_handler<void (), main::{lambda()#1}>::_M_invoke",
		"void std::__invoke_impl<void, f(int)::{lambda()#1}&>(std::__invoke_other, f&)",
		"std::enable_if<is_x<int>, void>::type std::__invoke_r<void, f&>(f&)",
		"std::thread::_State_impl<std::thread::_Invoker<std::tuple<f> > >::_M_run",
		"execute_native_thread_routine",
		"boost::asio::detail::scheduler::run",
		"core::ops::function::FnOnce::call_once",
		"__libc_start_main@@GLIBC_2.34",
		"start_thread",
		"g_main_dispatch",
	};
	static const char *const work[] = {
		"main",
		"run(std::function<void ()> const&)",
		"my::std::function<int>::operator()",
		"app::invoke<int>(int)",
		"clone_tree",
		"std::vector<std::function<void ()> >::push_back",
		"std::sort<int*>",
		"restart_thread",
		"tokio_example::work",
	};
	struct err err = {0};
	char *pattern = NULL;

	(void)state;
	assert_int_equal(elide_rules_read("wrappers", &pattern, &err), 0);
	for (size_t i = 0; i < sizeof(plumbing) / sizeof(plumbing[0]); i++) {
		if (!elides(pattern, plumbing[i]))
			fail_msg("'%s' is shown", plumbing[i]);
	}
	for (size_t i = 0; i < sizeof(work) / sizeof(work[0]); i++) {
		if (elides(pattern, work[i]))
			fail_msg("'%s' is left out", work[i]);
	}
	free(pattern);
}

static int read_rules(const char *text, size_t len, char **ret_pattern, struct err *err)
{
	char *path = file_make(text, len);
	int r = elide_rules_read(path, ret_pattern, err);

	file_remove(path);
	return r;
}

static void reads_rules_of_a_file(void **state)
{
	static const char rules[] = "; ours\r\n[a b]\n\n\t frame=^x;y$ \n# more\nframe = (p|q)\n";
	struct err err = {0};
	char *pattern = NULL;

	(void)state;
	assert_int_equal(read_rules(rules, sizeof(rules) - 1, &pattern, &err), 0);
	assert_string_equal(pattern, "(?:^x;y$)|(?:(p|q))");
	free(pattern);
}

static void assert_bad_rules(const char *text, size_t len, const char *said)
{
	struct err err = {0};
	char *pattern = NULL;

	assert_int_equal(read_rules(text, len, &pattern, &err), -EINVAL);
	assert_null(pattern);
	assert_non_null(strstr(err.text, said));
}

static void names_the_line_that_is_no_rule(void **state)
{
	(void)state;
	assert_bad_rules("[a]\nframe = x\nframes = y\n", 25, "line 3");
	/* Two halves of a pattern would make a whole once they are joined. */
	assert_bad_rules("frame = a)|(?:b\n", 16, "line 1");
	/* and one that has no end would swallow the next */
	assert_bad_rules("frame = a\nframe = \\Qb\nframe = c\n", 32, "line 2");
	assert_bad_rules("frame = (?x) a # b\n", 19, "line 1");
	assert_bad_rules("frame = (?<n>a)\nframe = (?<n>b)\n", 32, "do not go together");
	assert_bad_rules("[a\n", 3, "line 1");
	assert_bad_rules("frame =\n", 8, "line 1");
	assert_bad_rules("; nothing\n", 10, "no rule");
	assert_bad_rules("frame = a\0b\n", 12, "no text");
}

static void says_where_a_file_is_missing(void **state)
{
	struct err err = {0};
	char *pattern = NULL;

	(void)state;
	assert_int_equal(elide_rules_read("/nowhere/rules.ini", &pattern, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nowhere/rules.ini"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_ranges_of_time),
		cmocka_unit_test(refuses_what_is_no_range),
		cmocka_unit_test(reads_rectangles_with_rows_of_their_own),
		cmocka_unit_test(reads_a_part_of_every_period),
		cmocka_unit_test(takes_64_ranges_and_no_more),
		cmocka_unit_test(reads_measures),
		hand_profile_test(names_the_values_of_dimensions),
		hand_profile_test(tells_samples_apart_by_a_metric),
		cmocka_unit_test(names_processes_as_most_of_their_samples),
		hand_profile_test(says_what_brings_what_is_missing),
		cmocka_unit_test(a_long_list_of_what_there_is_leaves_room_for_the_hint),
		hand_profile_test(a_request_is_its_span),
		hand_profile_test(counts_values_without_room_as_others),
		cmocka_unit_test(ships_rules_for_plumbing_only),
		cmocka_unit_test(reads_rules_of_a_file),
		cmocka_unit_test(names_the_line_that_is_no_rule),
		cmocka_unit_test(says_where_a_file_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
