/* groups_test.c - what stacks are grouped by, in words and in classes of size */
#include "output/text/perf_script.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct metric metrics[] = {
	{"cpu_ns", "ns", METRIC_COUNTER},
	{"minflt", "1", METRIC_COUNTER},
	{"rss_kib", "KiB", METRIC_GAUGE},
};

enum { N_METRICS = sizeof(metrics) / sizeof(metrics[0]) };

/* The frames that WORDS give a sample, outermost last. */
static char *frames_of(const char *words, const struct sample *sample)
{
	struct groups groups;
	struct err err = {0};
	struct buf buf;
	char *text;

	assert_int_equal(groups_parse(words, metrics, N_METRICS, &groups, &err), 0);
	buf_init(&buf, 4096);
	groups_add(&buf, &groups, metrics, sample);
	assert_false(buf.failed);
	text = strdup(buf_text(&buf));
	assert_non_null(text);
	buf_release(&buf);
	return text;
}

static void assert_frames(const char *words, const struct sample *sample, const char *frames)
{
	char *text = frames_of(words, sample);

	assert_string_equal(text, frames);
	free(text);
}

static const struct sample blocked = {
	.pid = 4000,
	.tid = 4001,
	.cpu = 3,
	.state = STATE_SLEEPING,
	.wait = "futex",
	.object = "0x7f00",
	.comm = "worker-3",
	.n_metrics = N_METRICS,
	.metrics = {{12000000, 0}, {0, 0}, {250 * 1024, 0}},
};

static void a_file_is_grouped_by_what_it_has(void **state)
{
	struct groups groups;
	struct err err = {0};

	(void)state;
	assert_int_equal(
		groups_parse("cpu_ns,state,rss,minflt,cpu", metrics, N_METRICS, &groups, &err), 0);
	groups_limit(&groups, UINT32_MAX);
	assert_int_equal(groups.n, 5);
	groups_limit(&groups, 1U << 2);
	assert_int_equal(groups.n, 3);
	assert_int_equal(groups.at[0].kind, GROUP_STATE);
	assert_string_equal(groups_name(&groups.at[1], metrics), "rss_kib");
	assert_int_equal(groups.at[2].kind, GROUP_CPU);
}

static void labels_group_and_are_sanitised(void **state)
{
	static const struct sample_label labels[] = {{"identity", "GET /a;b (x)\x1b"},
						     {"span", "00f067aa0ba902b7"}};
	struct sample sample = blocked;

	(void)state;
	sample.labels = labels;
	sample.n_labels = 2;
	assert_frames("identity,req,tier", &sample,
		      "\t               0 - ([tier])\n"
		      "\t               0 00f067aa0ba902b7 ([span])\n"
		      "\t               0 GET /a:b [x]_ ([identity])\n");
}

static void the_first_group_is_outermost(void **state)
{
	(void)state;
	assert_frames("state,thread,rss", &blocked,
		      "\t               0 100s MiB ([rss_kib])\n"
		      "\t               0 worker-3/4001 ([thread])\n"
		      "\t               0 sleeping ([state])\n");
}

static void every_word_has_its_frame(void **state)
{
	(void)state;
	assert_frames("wait", &blocked, "\t               0 futex ([wait])\n");
	assert_frames("object", &blocked, "\t               0 0x7f00 ([object])\n");
	assert_frames("comm", &blocked, "\t               0 worker-3 ([comm])\n");
	assert_frames("process", &blocked, "\t               0 process 4000 ([process])\n");
	assert_frames("cpu", &blocked, "\t               0 cpu 3 ([cpu])\n");
	assert_frames("cpu_ns", &blocked, "\t               0 10s ms ([cpu_ns])\n");
	assert_frames("minflt", &blocked, "\t               0 0 ([minflt])\n");
}

static void what_does_not_wait_is_grouped_by_its_state(void **state)
{
	const struct sample running = {.state = STATE_RUNNING, .comm = "app"};

	(void)state;
	assert_frames("wait", &running, "\t               0 running ([wait])\n");
	assert_frames("object", &running, "\t               0 - ([object])\n");
	assert_frames("rss", &running, "\t               0 0 ([rss_kib])\n");
}

static void names_lose_what_consumers_would_cut_them_at(void **state)
{
	static const char *const comms[][2] = {
		{"c++", "c__/7"},
		{"a;b", "a:b/7"},
		{"f(x)", "f[x]/7"},
		{"(sd-pam)", "[sd-pam]/7"},
		{"a->b", "a\xe2\x86\x92"
			 "b/7"},
		{"w 12: x", "w_12: x/7"},
		{"", "/7"},
		{"tab\there", "tab_here/7"},
		{"\xff", "\xef\xbf\xbd/7"},
		{"<html>", "<_html>/7"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(comms) / sizeof(comms[0]); i++) {
		struct sample sample = {.tid = 7};
		char frame[128];

		(void)strcpy(sample.comm, comms[i][0]);
		(void)snprintf(frame, sizeof(frame), "\t               0 %s ([thread])\n",
			       comms[i][1]);
		assert_frames("thread", &sample, frame);
	}
}

static void refuses_words_that_mean_nothing(void **state)
{
	static const char *const texts[] = {
		"",
		"State",
		"state,",
		",state",
		"rss_kibi",
		"stat",
		"state,state,state,state,state,state,state,state,state"};
	struct groups groups;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct err err = {0};

		assert_int_equal(groups_parse(texts[i], metrics, N_METRICS, &groups, &err),
				 -EINVAL);
	}
}

static void assert_class(int64_t value, const char *unit, const char *class)
{
	struct buf buf;

	buf_init(&buf, 64);
	assert_true(groups_size_class(value, unit) < GROUPS_CLASSES);
	groups_class_word(&buf, groups_size_class(value, unit), unit);
	assert_string_equal(buf_text(&buf), class);
	buf_release(&buf);
}

static void sizes_have_classes(void **state)
{
	(void)state;
	assert_class(0, "B", "0");
	assert_class(1, "B", "1s B");
	assert_class(9, "B", "1s B");
	assert_class(10, "B", "10s B");
	assert_class(1023, "B", "100s B");
	assert_class(1024, "B", "1s KiB");
	assert_class(1, "KiB", "1s KiB");
	assert_class(99, "KiB", "10s KiB");
	assert_class(1023, "KiB", "100s KiB");
	assert_class(1024, "KiB", "1s MiB");
	assert_class((int64_t)3 << 30, "B", "1s GiB");
	assert_class((int64_t)5000 << 40, "B", "1000s TiB");
	assert_class(-2048, "B", "-1s KiB");
	assert_class(INT64_MIN, "KiB", "-1000s TiB");
	assert_class(999, "ns", "100s ns");
	assert_class(1000, "ns", "1s us");
	assert_class(12000000000, "ns", "10s s");
	assert_class(INT64_MAX, "ns", "1000s s");
	assert_class(7, "1", "1s");
	assert_class(1500, "1", "1s k");
	assert_class(250000000, "1", "100s M");
}

/* ---- in a whole sample */

static size_t count(const char *text, const char *part)
{
	size_t n = 0;

	for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
		n++;
	return n;
}

/* The frames of a stack of N functions named by the letters of TEXT, "~" for "truncated". */
static char *stack_of(const struct perf_script_options *options, const char *text)
{
	static char names[128][2];
	struct frame frames[300];
	struct perf_script_file file = {0};
	struct sample sample = {.comm = "app", .frames = frames};
	struct buf buf;
	char *written;

	for (; *text; text++) {
		char *name = names[(unsigned char)*text & 127];

		name[0] = *text;
		frames[sample.n_frames] =
			(struct frame){.addr = sample.n_frames, .symbol = name, .module = "/x"};
		sample.n_frames++;
	}
	buf_init(&buf, 65536);
	perf_script_sample(options, &file, &sample, &buf);
	assert_false(buf.failed);
	written = strdup(buf_text(&buf));
	assert_non_null(written);
	buf_release(&buf);
	return written;
}

static void a_function_that_calls_itself_is_one_frame(void **state)
{
	const struct perf_script_options options = {.bare = true, .flatten = true};
	char *text = stack_of(&options, "aaabbaccc");

	(void)state;
	assert_int_equal(count(text, "\t"), 4);
	assert_non_null(strstr(text, "\n\t               0 a+0x0 (/x)\n"
				     "\t               3 b+0x0 (/x)\n"
				     "\t               5 a+0x0 (/x)\n"
				     "\t               6 c+0x0 (/x)\n\n"));
	free(text);
}

static void a_flat_stack_of_any_depth_is_not_cut(void **state)
{
	struct perf_script_options options = {.bare = true, .flatten = true};
	char deep[257];
	char *text;

	(void)state;
	memset(deep, 'a', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	deep[0] = 'b';
	options.groups.n = 1;
	text = stack_of(&options, deep);
	assert_int_equal(count(text, "\t"), 3);
	assert_null(strstr(text, "[truncated]"));
	free(text);
}

static void groups_count_among_the_most_frames(void **state)
{
	for (size_t n_groups = 0; n_groups <= GROUPS_MAX; n_groups++) {
		for (size_t depth = 246; depth <= 256; depth++) {
			struct perf_script_options options = {.bare = true};
			bool cut = depth + n_groups > 256;
			char stack[257] = "";
			char *text;

			for (size_t i = 0; i < depth; i++)
				stack[i] = i % 2 ? 'a' : 'b';
			options.groups.n = n_groups;
			options.flatten = depth % 2;
			text = stack_of(&options, stack);
			assert_int_equal(count(text, "\t"), cut ? 256 : depth + n_groups);
			assert_int_equal(count(text, "[truncated]"), cut);
			free(text);
		}
	}
	(void)state;
}

static void the_head_names_the_groups(void **state)
{
	struct perf_script_options options = {.metrics = metrics, .n_metrics = N_METRICS};
	const struct perf_script_header header = {.hz = 99, .pid = 1};
	struct err err = {0};
	struct buf buf;

	(void)state;
	buf_init(&buf, 65536);
	perf_script_header(&options, &header, &buf);
	assert_null(strstr(buf_text(&buf), "groups"));
	buf_clear(&buf);
	assert_int_equal(groups_parse("wait,rss", metrics, N_METRICS, &options.groups, &err), 0);
	perf_script_header(&options, &header, &buf);
	assert_non_null(strstr(buf_text(&buf), ",\"groups\":[\"wait\",\"rss_kib\"],"));
	buf_release(&buf);
}

static void the_head_names_the_words_of_its_event(void **state)
{
	static const struct perf_script_header headers[] = {
		{.event = "wall-clock", .hz = 99, .pid = 1},
		{.event = "alloc", .mean_bytes = 4096, .pid = 1},
		{.event = "lock", .least_ns = 5000, .pid = 1},
	};
	static const char *const expected[][2] = {
		{",\"event\":\"wall-clock\",\"hz\":99,\"pid\":1,", "\"keys\":[\"on\",\"comm\"]"},
		{",\"event\":\"alloc\",\"mean_bytes\":4096,\"pid\":1,",
		 "\"keys\":[\"on\",\"op\",\"comm\"]"},
		{",\"event\":\"lock\",\"least_ns\":5000,\"pid\":1,",
		 "\"keys\":[\"on\",\"waker\",\"comm\"]"},
	};
	const struct perf_script_options options = {.metrics = metrics, .n_metrics = N_METRICS};

	(void)state;
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		struct buf buf;

		buf_init(&buf, 65536);
		perf_script_header(&options, &headers[i], &buf);
		assert_non_null(strstr(buf_text(&buf), expected[i][0]));
		assert_non_null(strstr(buf_text(&buf), expected[i][1]));
		buf_release(&buf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_grouped_by_what_it_has),
		cmocka_unit_test(labels_group_and_are_sanitised),
		cmocka_unit_test(the_first_group_is_outermost),
		cmocka_unit_test(every_word_has_its_frame),
		cmocka_unit_test(what_does_not_wait_is_grouped_by_its_state),
		cmocka_unit_test(names_lose_what_consumers_would_cut_them_at),
		cmocka_unit_test(refuses_words_that_mean_nothing),
		cmocka_unit_test(sizes_have_classes),
		cmocka_unit_test(a_function_that_calls_itself_is_one_frame),
		cmocka_unit_test(a_flat_stack_of_any_depth_is_not_cut),
		cmocka_unit_test(groups_count_among_the_most_frames),
		cmocka_unit_test(the_head_names_the_groups),
		cmocka_unit_test(the_head_names_the_words_of_its_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
