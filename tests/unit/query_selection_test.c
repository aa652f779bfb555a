/* query_selection_test.c - which samples a query takes, what they count, and what their stacks
 * become */
#include "flamescope/query/query.h"

#include "base/buf.h"
#include "tests/unit/flamescope/hand_profile.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint64_t ms = 1000000;

static void assert_refused(const struct hand_profile *hand, const struct query *query, int code,
			   const char *said)
{
	struct selection *selection = NULL;
	struct err err = {0};

	assert_int_equal(selection_make(&hand->profile, query, &selection, &err), code);
	assert_null(selection);
	assert_non_null(strstr(err.text, said));
}

/* A selected sample's stack as "main;f". */
static void assert_stack(const struct selection *selection, size_t at, const char *expected)
{
	uint32_t way[16];
	struct buf text;
	size_t n = 0;

	for (uint32_t node = selection->stacks[at]; node != 0;
	     node = selection->nodes[node].parent) {
		assert_true(n < sizeof(way) / sizeof(way[0]));
		way[n++] = selection->nodes[node].frame;
	}
	buf_init(&text, 1024);
	while (n > 0) {
		buf_add(&text, selection_frame_name(selection, way[--n]));
		buf_add(&text, n > 0 ? ";" : "");
	}
	assert_string_equal(buf_text(&text), expected);
	buf_release(&text);
}

/* Samples 0 to 9, one each 100 ms from 0.05 s on; the clock began at 5.7 s. */
static void add_ten(struct hand_profile *hand)
{
	hand->profile.start_ns = 5700 * ms;
	for (uint64_t i = 0; i < 10; i++)
		hand_profile_add(hand, &(struct hand_sample){.time_ns = (50 + i * 100) * ms,
							     .stack = "main;f"});
}

static void assert_taken(struct hand_profile *hand, const struct query *query, const char *numbers)
{
	struct selection *selection = hand_profile_select(hand, query);
	char text[64] = "";

	for (size_t i = 0; i < selection->n; i++)
		text[i] = (char)('0' + selection->samples[i]);
	assert_string_equal(text, numbers);
}

static void takes_everything_unless_told(void **state)
{
	struct query query = {0};
	struct hand_profile *hand = *state;
	struct selection *selection;

	add_ten(hand);
	selection = hand_profile_select(hand, &query);
	assert_int_equal(selection->n, 10);
	assert_int_equal(selection->measure, QUERY_SAMPLES);
	assert_stack(selection, 9, "main;f");
	hand->profile.is_wick = true;
	selection = hand_profile_select(hand, &query);
	assert_int_equal(selection->measure, QUERY_WEIGHT);
	assert_string_equal(selection->unit, "periods");
	/* Folded stacks: a line is no sample. */
	hand->profile.is_wick = false;
	hand->profile.has_times = false;
	selection = hand_profile_select(hand, &query);
	assert_int_equal(selection->measure, QUERY_WEIGHT);
}

/* A recording of some kind, and what a weight of 30,000 is in it. */
struct kind {
	const char *events[2];
	bool is_wick;
	bool is_folded;
	uint32_t hz;
	uint64_t least; /* weight of its other sample */
	const char *unit;
	const char *noun;
	bool is_default;
	int64_t value;
};

static const struct kind kinds[] = {
	{{"cpu-clock"}, true, false, 100, 1, "ns", "of CPU", true, 300000000000},
	{{"cpu-clock"}, true, false, 99, 1, "ns", "of CPU", true, 303030303030},
	{{"wall-clock"}, true, false, 100, 1, "ns", "of wall time", true, 300000000000},
	{{"cpu-clock", "wall-clock"}, true, false, 100, 1, "ns", "of time", true, 300000000000},
	{{"cpu-clock"}, true, false, 0, 1, "periods", "periods", true, 30000},
	{{"alloc"}, true, false, 0, 1, "B", "allocated", true, 30000},
	{{"lock"}, true, false, 0, 1, "us", "waited for locks", true, 30000},
	{{"cpu-clock", "alloc"}, true, false, 0, 1, "", "", true, 30000},
	{{"page-faults"}, true, false, 0, 1, "page-faults", "page-faults", true, 30000},
	{{"cpu-clock"}, false, false, 0, 10000, "ns", "of CPU", true, 30000},
	{{"cpu-clock:u"}, false, false, 0, 10000, "ns", "of CPU", true, 30000},
	{{"task-clock:ppp"}, false, false, 0, 10000, "ns", "of CPU", true, 30000},
	{{"cpu-clock"}, false, false, 0, 9999, "periods", "periods", false, 30000},
	{{"cpu-clocks"}, false, false, 0, 10000, "cpu-clocks", "cpu-clocks", false, 30000},
	{{"wall-clock"}, false, false, 0, 10000, "wall-clock", "wall-clock", false, 30000},
	{{"cycles"}, false, false, 0, 10000, "cycles", "cycles", false, 30000},
	{{"cycles", "cpu-clock"}, false, false, 0, 10000, "", "", false, 30000},
	{{""}, false, true, 0, 1, "samples", "samples", true, 30000},
};

static void knows_what_weights_are(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct kind *kind = &kinds[i];
		uint64_t weights[] = {30000, kind->least};
		const char *strings[] = {kind->events[0], kind->events[1]};
		const struct profile profile = {
			.n_samples = 2,
			.weights = weights,
			.is_wick = kind->is_wick,
			.has_times = !kind->is_folded,
			.hz = kind->hz,
			.n_events = kind->events[1] ? 2 : 1,
			.event_names = {0, 1},
			.strings = strings,
		};
		struct period period = period_of(&profile, SELECTION_EVERY_EVENT);

		assert_string_equal(period.unit, kind->unit);
		assert_string_equal(period.noun, kind->noun);
		assert_int_equal(period.is_default, kind->is_default);
		assert_int_equal(period_value(&period, weights[0]), kind->value);
		assert_int_equal(period_value(&period, UINT64_MAX), INT64_MAX);
	}
}

/* Ten microseconds are the least of the clock's own samples, whatever another event's are. */
static void weights_are_those_of_the_event_that_is_counted(void **state)
{
	uint64_t weights[] = {30000, 1};
	uint8_t events[] = {0, 1};
	const char *strings[] = {"cpu-clock", "page-faults"};
	const struct profile profile = {
		.n_samples = 2,
		.weights = weights,
		.events = events,
		.has_times = true,
		.n_events = 2,
		.event_names = {0, 1},
		.strings = strings,
	};

	(void)state;
	assert_string_equal(period_of(&profile, 0).unit, "ns");
	assert_true(period_of(&profile, 0).is_default);
	assert_string_equal(period_of(&profile, 1).unit, "page-faults");
	assert_string_equal(period_of(&profile, SELECTION_EVERY_EVENT).unit, "");
}

static void counts_time_in_nanoseconds(void **state)
{
	const struct query query = {0};
	struct hand_profile *hand = *state;
	struct selection *selection;

	hand_profile_add(hand, &(struct hand_sample){.stack = "main", .weight = 3});
	hand->profile.is_wick = true;
	hand->profile.hz = 99;
	selection = hand_profile_select(hand, &query);
	assert_int_equal(selection->values[0], 30303030);
	assert_string_equal(selection->unit, "ns");
	assert_string_equal(selection->noun, "of CPU");
}

static void takes_an_empty_profile(void **state)
{
	struct query query = {.flatten = true, .n_groups = 1, .groups = {"state"}};
	struct hand_profile *hand = *state;
	struct selection *selection;

	selection = hand_profile_select(hand, &query);
	assert_int_equal(selection->n, 0);
	assert_int_equal(selection->n_nodes, 1);
}

static void counts_overlapping_ranges_once(void **state)
{
	struct hand_profile *hand = *state;
	struct query query = {
		.n_ranges = 3,
		.ranges = {{.from_ns = 600 * ms, .to_ns = 800 * ms},
			   {.from_ns = 100 * ms, .to_ns = 350 * ms},
			   {.from_ns = 250 * ms, .to_ns = 450 * ms}},
	};

	add_ten(hand);
	/* Half open: 350 ms is in the third range, 450 ms in none. */
	assert_taken(hand, &query, "12367");
}

static void takes_rows_of_the_clocks_whole_seconds(void **state)
{
	struct hand_profile *hand = *state;
	struct query query = {.every = {.every_ns = 1000 * ms, .to_ns = 100 * ms}};

	add_ten(hand);
	/* 6.000 to 6.100 s: 300 to 400 ms after the start at 5.7 s. */
	assert_taken(hand, &query, "3");
	query.every = (struct query_every){200 * ms, 100 * ms, 200 * ms};
	assert_taken(hand, &query, "02468");
}

static void gives_each_rectangle_its_own_rows(void **state)
{
	struct hand_profile *hand = *state;
	struct query query = {
		.n_ranges = 3,
		.ranges =
			{
				{.to_ns = 1000 * ms, .every = {1000 * ms, 700 * ms, 800 * ms}},
				{.to_ns = 1000 * ms, .every = {1000 * ms, 200 * ms, 300 * ms}},
				{.from_ns = 200 * ms, .to_ns = 300 * ms},
			},
	};

	add_ten(hand);
	assert_taken(hand, &query, "025");
	query.every = (struct query_every){200 * ms, 100 * ms, 200 * ms};
	assert_taken(hand, &query, "02");
}

static void add_states(struct hand_profile *hand)
{
	hand_profile_add(hand,
			 &(struct hand_sample){
				 .stack = "main;f", .state = "running", .tid = 10, .weight = 3});
	hand_profile_add(hand, &(struct hand_sample){.stack = "main;f",
						     .state = "sleeping",
						     .wait = "futex",
						     .tid = 11,
						     .weight = 5});
	hand_profile_add(hand,
			 &(struct hand_sample){
				 .stack = "main;f;g", .state = "running", .tid = 11, .weight = 7});
}

static void filters_by_dimension(void **state)
{
	struct hand_profile *hand = *state;
	struct query query = {.n_filters = 1, .filters = {{"state", "^run", false}}};

	add_states(hand);
	assert_taken(hand, &query, "02");
	query.filters[0].exclude = true;
	assert_taken(hand, &query, "1");
	query.filters[0] = (struct query_filter){"wait", "", false};
	assert_taken(hand, &query, "02");
	query.filters[0] = (struct query_filter){"wait", "", true};
	assert_taken(hand, &query, "1");
	query.n_filters = 2;
	query.filters[0] = (struct query_filter){"state", "run", false};
	query.filters[1] = (struct query_filter){"tid", "^11$", false};
	assert_taken(hand, &query, "2");
	query.filters[1].dimension = "colour";
	assert_refused(hand, &query, -ENOENT, "colour");
}

static void includes_and_excludes_stacks_by_frames(void **state)
{
	struct hand_profile *hand = *state;
	struct query query = {.n_include = 2, .include = {"^main$", "^g$"}};

	add_states(hand);
	assert_taken(hand, &query, "2");
	query.n_include = 1;
	assert_taken(hand, &query, "012");
	query.n_exclude = 1;
	query.exclude[0] = "^g";
	assert_taken(hand, &query, "01");
}

static void add_stack(struct hand_profile *hand, const char *stack)
{
	hand_profile_add(hand, &(struct hand_sample){.stack = stack});
}

static void makes_stacks_over(void **state)
{
	struct hand_profile *hand = *state;
	struct selection *selection;
	struct query query = {.focus = "^f$"};

	add_stack(hand, "main;f;f;w;f;g");
	add_stack(hand, "main;g");
	selection = hand_profile_select(hand, &query);
	assert_int_equal(selection->n, 1);
	assert_stack(selection, 0, "f;f;w;f;g");

	query = (struct query){.truncate = "^f$"};
	selection = hand_profile_select(hand, &query);
	assert_stack(selection, 0, "main;f");
	assert_stack(selection, 1, "main;g");

	query = (struct query){.flatten = true};
	selection = hand_profile_select(hand, &query);
	assert_stack(selection, 0, "main;f;w;f;g");

	/* What is left out is left out before recursion is looked for. */
	query = (struct query){.flatten = true, .n_elide = 1, .elide = {"^w$"}};
	selection = hand_profile_select(hand, &query);
	assert_stack(selection, 0, "main;f;g");

	/* Nothing is left of it, but the sample still counts. */
	query = (struct query){.n_elide = 1, .elide = {"."}};
	selection = hand_profile_select(hand, &query);
	assert_int_equal(selection->n, 2);
	assert_stack(selection, 0, "");
}

static void puts_groups_outermost(void **state)
{
	struct hand_profile *hand = *state;
	struct selection *selection;
	struct query query = {.n_groups = 2, .groups = {"state", "wait"}};

	add_states(hand);
	selection = hand_profile_select(hand, &query);
	assert_stack(selection, 0, "running;[no wait];main;f");
	assert_stack(selection, 1, "sleeping;futex;main;f");
	assert_stack(selection, 2, "running;[no wait];main;f;g");
	/* One tree: the first's stack is part of the third's. */
	assert_int_equal(selection->nodes[selection->stacks[2]].parent, selection->stacks[0]);

	query.focus = "^f$";
	selection = hand_profile_select(hand, &query);
	assert_stack(selection, 1, "sleeping;futex;f");
}

/* f takes 100 bytes, g gives 60 back, h has no value. */
static void add_signs(struct hand_profile *hand)
{
	hand_profile_add(hand,
			 &(struct hand_sample){
				 .stack = "main;f", .measured = true, .value = 100, .delta = 100});
	hand_profile_add(hand,
			 &(struct hand_sample){
				 .stack = "main;g", .measured = true, .value = 40, .delta = -60});
	hand_profile_add(hand, &(struct hand_sample){.stack = "main;h"});
}

static void assert_values(struct hand_profile *hand, enum query_measure measure, int64_t first,
			  int64_t second, bool is_signed)
{
	struct query query = {.has_measure = true, .measure = measure, .metric = "bytes"};
	struct selection *selection = hand_profile_select(hand, &query);

	assert_int_equal(selection->n, 2);
	assert_int_equal(selection->n_absent, 1);
	assert_int_equal(selection->values[0], first);
	assert_int_equal(selection->values[1], second);
	assert_int_equal(selection->is_signed, is_signed);
	assert_string_equal(selection->unit, "B");
}

static void counts_by_measure(void **state)
{
	struct hand_profile *hand = *state;
	struct query query = {.has_measure = true, .measure = QUERY_VALUE, .metric = "colours"};

	add_signs(hand);
	assert_values(hand, QUERY_VALUE, 100, 40, false);
	assert_values(hand, QUERY_MEAN, 100, 40, false);
	assert_values(hand, QUERY_DELTA, 100, -60, true);
	assert_values(hand, QUERY_GAIN, 100, 0, false);
	assert_values(hand, QUERY_LOSS, 0, 60, false);
	assert_refused(hand, &query, -ENOENT, "samples, period, bytes");
}

static void ends_patterns_that_explode(void **state)
{
	struct hand_profile *hand = *state;
	struct query query = {.n_include = 1, .include = {"^(a+)+$"}};

	add_stack(hand, "main;aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!");
	assert_refused(hand, &query, -E2BIG, "'^(a+)+$' takes too long on 'aaa");
	query = (struct query){.n_filters = 1, .filters = {{"comm", "(", false}}};
	assert_refused(hand, &query, -EINVAL, "pattern '('");
}

static void refuses_more_than_there_is_room_for(void **state)
{
	struct hand_profile *hand = *state;
	struct query query = {.n_elide = QUERY_MAX_PATTERNS + 1};

	add_ten(hand);
	assert_refused(hand, &query, -E2BIG, "32 patterns");
	query = (struct query){.n_ranges = QUERY_MAX_RANGES + 1};
	assert_refused(hand, &query, -E2BIG, "64 time ranges");
	query = (struct query){.n_groups = QUERY_MAX_GROUPS + 1};
	assert_refused(hand, &query, -E2BIG, "8 groups");
	query = (struct query){.n_filters = QUERY_MAX_PATTERNS + 1};
	assert_refused(hand, &query, -E2BIG, "32 filters");
}

static void bears_stacks_of_100000_frames(void **state)
{
	struct hand_profile *hand = *state;
	struct selection *selection;
	struct query query = {.n_include = 1,
			      .include = {"f"},
			      .n_elide = 1,
			      .elide = {"x"},
			      .n_groups = 1,
			      .groups = {"state"}};

	add_stack(hand, "f");
	hand->profile.stacks[0] = hand_profile_stack(hand, "f", 100000);
	selection = hand_profile_select(hand, &query);
	assert_int_equal(selection->n, 1);
	assert_int_equal(selection->n_nodes, 100002);
	query.flatten = true;
	selection = hand_profile_select(hand, &query);
	assert_stack(selection, 0, "[no state];f");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		hand_profile_test(takes_everything_unless_told),
		cmocka_unit_test(knows_what_weights_are),
		cmocka_unit_test(weights_are_those_of_the_event_that_is_counted),
		hand_profile_test(counts_time_in_nanoseconds),
		hand_profile_test(takes_an_empty_profile),
		hand_profile_test(counts_overlapping_ranges_once),
		hand_profile_test(takes_rows_of_the_clocks_whole_seconds),
		hand_profile_test(gives_each_rectangle_its_own_rows),
		hand_profile_test(filters_by_dimension),
		hand_profile_test(includes_and_excludes_stacks_by_frames),
		hand_profile_test(makes_stacks_over),
		hand_profile_test(puts_groups_outermost),
		hand_profile_test(counts_by_measure),
		hand_profile_test(ends_patterns_that_explode),
		hand_profile_test(refuses_more_than_there_is_room_for),
		hand_profile_test(bears_stacks_of_100000_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
