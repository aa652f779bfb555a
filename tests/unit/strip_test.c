/* strip_test.c - a thread's stacks in the order of time */
#include "flamescope/strip/strip.h"

#include "tests/unit/flamescope/hand_profile.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint64_t ms = 1000000;

static void add_at(struct hand_profile *hand, uint64_t time_ms, const char *stack, int32_t tid)
{
	hand_profile_add(
		hand, &(struct hand_sample){.time_ns = time_ms * ms, .stack = stack, .tid = tid});
}

static struct strip *made(const struct hand_profile *hand, uint32_t thread)
{
	struct query query = {0};
	struct selection *selection = NULL;
	struct strip *strip = NULL;
	struct err err = {0};

	if (selection_make(&hand->profile, &query, &selection, &err) < 0 ||
	    strip_make(selection, thread, &strip, &err) < 0)
		fail_msg("%s", err.text);
	selection_free(selection);
	return strip;
}

/* As "main 0-30 3", one a line: name, ms from and to, samples; indented by depth. */
static void assert_spans(const struct hand_profile *hand, const struct strip *strip,
			 const char *expected)
{
	char text[1024] = "";
	size_t len = 0;

	for (size_t i = 0; i < strip->n_spans; i++) {
		const struct strip_span *span = &strip->spans[i];
		uint32_t name = hand->profile.frames[span->frame].name;

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%*s%s %d-%d %d\n",
					(int)span->depth - 1, "", hand->profile.strings[name],
					(int)(span->from_ns / ms), (int)(span->to_ns / ms),
					(int)span->samples);
	}
	assert_string_equal(text, expected);
}

static void merges_what_stays_from_sample_to_sample(void **state)
{
	struct hand_profile hand;
	struct strip *strip;

	(void)state;
	hand_profile_init(&hand, 0);
	add_at(&hand, 0, "main;f;g", 1);
	add_at(&hand, 5, "other", 2);
	add_at(&hand, 10, "main;f;g", 1);
	add_at(&hand, 20, "main;f", 1);
	add_at(&hand, 30, "main;h;g", 1);
	add_at(&hand, 40, "main;f", 1);
	strip = made(&hand, 0);
	assert_spans(&hand, strip,
		     "main 0-50 5\n"
		     " f 0-30 3\n"
		     "  g 0-20 2\n"
		     " h 30-40 1\n"
		     "  g 30-40 1\n"
		     " f 40-50 1\n");
	assert_int_equal(strip->depth, 3);
	assert_int_equal(strip->spans[0].gain, 5);
	strip_free(strip);
	strip = made(&hand, 1);
	assert_int_equal(strip->n_spans, 1);
	assert_int_equal(strip->spans[0].from_ns, 5 * ms);
	strip_free(strip);
	hand_profile_release(&hand);
}

static void leaves_a_gap_where_nothing_is_known(void **state)
{
	struct hand_profile hand;
	struct strip *strip;

	(void)state;
	hand_profile_init(&hand, 0);
	hand.profile.hz = 100;
	add_at(&hand, 0, "main", 1);
	add_at(&hand, 20, "main", 1);
	add_at(&hand, 41, "main", 1);
	add_at(&hand, 1000, "main", 1);
	strip = made(&hand, 0);
	assert_spans(&hand, strip, "main 0-30 2\nmain 41-51 1\nmain 1000-1010 1\n");
	strip_free(strip);
	hand_profile_release(&hand);
}

static void bridges_what_a_sample_stands_for(void **state)
{
	struct hand_profile hand;
	struct strip *strip;

	(void)state;
	hand_profile_init(&hand, 0);
	hand.profile.hz = 100;
	hand.profile.is_wick = true;
	add_at(&hand, 0, "main", 1);
	hand_profile_add(&hand,
			 &(struct hand_sample){.time_ns = 500 * ms, .stack = "main", .weight = 50});
	add_at(&hand, 1000, "main", 1);
	add_at(&hand, 1500, "main", 1);
	strip = made(&hand, 0);
	assert_spans(&hand, strip, "main 0-1010 3\nmain 1500-1510 1\n");
	assert_int_equal(strip->spans[0].gain, 52);
	strip_free(strip);
	hand_profile_release(&hand);
}

static void bears_samples_without_frames(void **state)
{
	struct hand_profile hand;
	struct strip *strip;

	(void)state;
	hand_profile_init(&hand, 0);
	add_at(&hand, 0, "main;f", 1);
	add_at(&hand, 10, NULL, 1);
	add_at(&hand, 20, "main;f", 1);
	strip = made(&hand, 0);
	assert_spans(&hand, strip, "main 0-10 1\n f 0-10 1\nmain 20-30 1\n f 20-30 1\n");
	strip_free(strip);
	hand_profile_release(&hand);
}

static void ends_before_it_fills_the_memory(void **state)
{
	struct query query = {0};
	struct selection *selection = NULL;
	struct strip *strip = NULL;
	struct hand_profile hand;
	struct err err = {0};
	uint32_t stacks[2];

	(void)state;
	hand_profile_init(&hand, 0);
	stacks[0] = hand_profile_stack(&hand, "f", 100000);
	stacks[1] = hand_profile_stack(&hand, "g", 100000);
	for (uint64_t i = 0; i < 60; i++) {
		add_at(&hand, i * 10, NULL, 1);
		hand.profile.stacks[i] = stacks[i % 2];
	}
	assert_int_equal(selection_make(&hand.profile, &query, &selection, &err), 0);
	assert_int_equal(strip_make(selection, 0, &strip, &err), -E2BIG);
	assert_non_null(strstr(err.text, "try: a shorter time"));
	assert_int_equal(strip_make(selection, 1, &strip, &err), -ENOENT);
	selection_free(selection);
	hand_profile_release(&hand);
}

static void lists_threads_by_samples(void **state)
{
	struct query query = {0};
	struct selection *selection = NULL;
	struct strip_thread *threads = NULL;
	struct hand_profile hand;
	struct err err = {0};
	size_t n = 0;

	(void)state;
	hand_profile_init(&hand, 0);
	add_at(&hand, 0, "main", 1);
	add_at(&hand, 1, "main", 2);
	add_at(&hand, 2, "main", 2);
	add_at(&hand, 3, "main", 3);
	query.n_filters = 1;
	query.filters[0] = (struct query_filter){"tid", "3", true};
	assert_int_equal(selection_make(&hand.profile, &query, &selection, &err), 0);
	assert_int_equal(strip_threads(selection, &threads, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(threads[0].thread, 1);
	assert_int_equal(threads[0].samples, 2);
	assert_int_equal(threads[1].thread, 0);
	free(threads);
	selection_free(selection);
	hand_profile_release(&hand);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merges_what_stays_from_sample_to_sample),
		cmocka_unit_test(leaves_a_gap_where_nothing_is_known),
		cmocka_unit_test(bridges_what_a_sample_stands_for),
		cmocka_unit_test(bears_samples_without_frames),
		cmocka_unit_test(ends_before_it_fills_the_memory),
		cmocka_unit_test(lists_threads_by_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
