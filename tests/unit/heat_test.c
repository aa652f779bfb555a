/* heat_test.c - which cell a sample is in, and what is in a cell */
#include "flamescope/heat/heat.h"

#include "tests/unit/flamescope/hand_profile.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint64_t ms = 1000000;

static struct heat *made(struct hand_profile *hand, const struct query *query,
			 const struct heat_options *options)
{
	struct heat *heat = NULL;
	struct err err = {0};

	if (heat_make(hand_profile_select(hand, query), options, &heat, &err) < 0)
		fail_msg("%s", err.text);
	return heat;
}

static void add_at(struct hand_profile *hand, uint64_t time_ns)
{
	hand_profile_add(hand, &(struct hand_sample){.time_ns = time_ns, .stack = "main"});
}

static void assert_cell(const struct heat *heat, size_t column, size_t row, int64_t value,
			uint32_t samples)
{
	assert_true(column < heat->n_columns && row < heat->n_rows);
	assert_int_equal(heat->values[column * heat->n_rows + row], value);
	assert_int_equal(heat->samples[column * heat->n_rows + row], samples);
}

static uint64_t all_samples(const struct heat *heat)
{
	uint64_t n = 0;

	for (size_t i = 0; i < heat->n_columns * heat->n_rows; i++)
		n += heat->samples[i];
	return n;
}

static void has_columns_of_the_clocks_whole_seconds(void **state)
{
	struct query query = {0};
	struct heat_options options = {0};
	struct hand_profile *hand = *state;
	struct heat *heat;

	/* 12345.710101 to 12347.310101 s: ceil - floor is 3 columns. */
	hand->profile.start_ns = 12345710101000;
	add_at(hand, 0);
	add_at(hand, 1600 * ms);
	heat = made(hand, &query, &options);
	assert_int_equal(heat->n_columns, 3);
	assert_int_equal(heat->n_rows, 50);
	assert_int_equal(heat->start_ns, 12345 * (1000 * ms));
	assert_cell(heat, 0, 35, 1, 1);
	assert_cell(heat, 2, 15, 1, 1);
	assert_cell(heat, 1, 15, 0, 0);
	assert_int_equal(all_samples(heat), 2);
	assert_int_equal(heat->min, 1);
	assert_int_equal(heat->max, 1);
	heat_free(heat);
}

static void puts_a_sample_on_an_edge_into_the_cell_that_begins(void **state)
{
	struct query query = {0};
	struct heat_options options = {0};
	struct hand_profile *hand = *state;
	struct heat *heat;

	add_at(hand, 0);
	add_at(hand, 20 * ms - 1);
	add_at(hand, 20 * ms);
	add_at(hand, 1000 * ms - 1);
	/* The last one at a whole second has a column, too. */
	add_at(hand, 1000 * ms);
	heat = made(hand, &query, &options);
	assert_int_equal(heat->n_columns, 2);
	assert_cell(heat, 0, 0, 2, 2);
	assert_cell(heat, 0, 1, 1, 1);
	assert_cell(heat, 0, 49, 1, 1);
	assert_cell(heat, 1, 0, 1, 1);
	heat_free(heat);
}

static void a_cell_may_be_its_largest_value(void **state)
{
	const struct heat_options options = {.largest = true};
	struct hand_profile *hand = *state;
	struct query query = {.has_measure = true, .measure = QUERY_DELTA, .metric = "bytes"};
	struct heat *heat;

	for (int i = 0; i < 3; i++)
		hand_profile_add(hand, &(struct hand_sample){.time_ns = (uint64_t)i,
							     .stack = "main",
							     .measured = true,
							     .delta = i - 7});
	heat = made(hand, &query, &options);
	assert_cell(heat, 0, 0, -5, 3);
	heat_free(heat);
}

/* Samples at 0.9 and 1.1 s of the clock are in one column that begins 0.5 s later. */
static void begins_its_columns_later_by_a_phase(void **state)
{
	const struct heat_options early = {.n_rows = 10, .phase_ns = 500000000};
	const struct heat_options late = {.n_rows = 10, .phase_ns = 950000000};
	const struct query query = {0};
	struct hand_profile hand;
	struct selection *selection;
	struct heat *heat = NULL;

	(void)state;
	hand_profile_init(&hand, 900000000);
	hand_profile_add(&hand, &(struct hand_sample){.stack = "f"});
	hand_profile_add(&hand, &(struct hand_sample){.stack = "f", .time_ns = 200000000});
	selection = hand_profile_select(&hand, &query);
	assert_int_equal(heat_make(selection, &early, &heat, NULL), 0);
	assert_int_equal(heat->n_columns, 1);
	assert_int_equal(heat->shift_ns, 400000000);
	assert_int_equal(heat->start_ns, 500000000);
	assert_int_equal(heat->samples[4], 1);
	assert_int_equal(heat->samples[6], 1);
	heat_free(heat);
	assert_int_equal(heat_make(selection, &late, &heat, NULL), 0);
	assert_int_equal(heat->n_columns, 2);
	assert_int_equal(heat->shift_ns, 950000000);
	assert_int_equal(heat->samples[9], 1);
	assert_int_equal(heat->samples[10 + 1], 1);
	heat_free(heat);
	hand_profile_release(&hand);
}

static void keeps_its_columns_whatever_is_selected(void **state)
{
	struct query query = {.n_ranges = 1,
			      .ranges = {{.from_ns = 3000 * ms, .to_ns = 3500 * ms}}};
	struct heat_options options = {.column_ns = 2000 * ms, .n_rows = 3};
	struct hand_profile *hand = *state;
	struct heat *heat;

	hand->profile.start_ns = 500 * ms;
	for (uint64_t i = 0; i < 100; i++)
		add_at(hand, i * 100 * ms);
	heat = made(hand, &query, &options);
	assert_int_equal(heat->n_columns, 6);
	assert_int_equal(heat->n_rows, 3);
	/* 3.5 to 4.0 s of the clock: the last third of the second column. */
	assert_cell(heat, 1, 2, 5, 5);
	assert_int_equal(all_samples(heat), 5);
	heat_free(heat);
}

static void tells_zero_from_nothing(void **state)
{
	struct query query = {.has_measure = true, .measure = QUERY_DELTA, .metric = "bytes"};
	struct heat_options options = {0};
	struct hand_profile *hand = *state;
	struct heat *heat;

	hand_profile_add(hand, &(struct hand_sample){.measured = true, .delta = 70});
	hand_profile_add(hand, &(struct hand_sample){.measured = true, .delta = -70});
	hand_profile_add(hand,
			 &(struct hand_sample){.time_ns = 20 * ms, .measured = true, .delta = -5});
	add_at(hand, 40 * ms);
	heat = made(hand, &query, &options);
	assert_cell(heat, 0, 0, 0, 2);
	assert_cell(heat, 0, 1, -5, 1);
	assert_cell(heat, 0, 2, 0, 0); /* has no value of the metric */
	assert_int_equal(heat->min, -5);
	assert_int_equal(heat->max, 0);
	heat_free(heat);
}

static void shows_the_mean_of_a_level(void **state)
{
	struct query query = {.has_measure = true, .measure = QUERY_MEAN, .metric = "bytes"};
	struct heat_options options = {0};
	struct hand_profile *hand = *state;
	struct heat *heat;

	hand_profile_add(hand, &(struct hand_sample){.measured = true, .value = 10});
	hand_profile_add(hand, &(struct hand_sample){.measured = true, .value = 21});
	hand_profile_add(hand,
			 &(struct hand_sample){.time_ns = 20 * ms, .measured = true, .value = -3});
	hand_profile_add(hand,
			 &(struct hand_sample){.time_ns = 20 * ms, .measured = true, .value = -5});
	heat = made(hand, &query, &options);
	assert_cell(heat, 0, 0, 16, 2); /* 15.5 */
	assert_cell(heat, 0, 1, -4, 2);
	heat_free(heat);
}

/* Of three threads, a row each for the first two. */
static void takes_its_scale_from_rows_that_have_a_name(void **state)
{
	struct query query = {0};
	struct heat_options options = {.by = "tid", .n_rows = 2};
	struct hand_profile *hand = *state;
	struct heat *heat;

	for (int32_t tid = 1; tid <= 9; tid++)
		hand_profile_add(hand, &(struct hand_sample){.stack = "main", .tid = tid});
	hand_profile_add(hand, &(struct hand_sample){.stack = "main", .tid = 1});
	heat = made(hand, &query, &options);
	assert_true(heat->has_others);
	assert_string_equal(heat->row_labels[1], "[8 others]");
	assert_cell(heat, 0, 0, 2, 2);
	assert_cell(heat, 0, 1, 8, 8);
	assert_int_equal(heat->max, 8);
	assert_int_equal(heat->scale_max, 2);
	heat_free(heat);
	options.n_rows = 1;
	heat = made(hand, &query, &options);
	assert_int_equal(heat->scale_max, 10);
	heat_free(heat);
}

static void does_not_wrap_around(void **state)
{
	struct query query = {.has_measure = true, .measure = QUERY_DELTA, .metric = "bytes"};
	struct heat_options options = {0};
	struct hand_profile *hand = *state;
	struct heat *heat;

	for (int i = 0; i < 2; i++) {
		hand_profile_add(hand, &(struct hand_sample){.measured = true, .delta = INT64_MAX});
	}
	heat = made(hand, &query, &options);
	assert_cell(heat, 0, 0, INT64_MAX, 2);
	heat_free(heat);
}

static void shows_a_dimension_by_time(void **state)
{
	struct query query = {0};
	struct heat_options options = {.by = "state"};
	struct hand_profile *hand = *state;
	struct heat *heat;

	hand_profile_add(hand, &(struct hand_sample){.state = "running"});
	hand_profile_add(hand, &(struct hand_sample){.state = "sleeping", .time_ns = 5 * ms});
	hand_profile_add(hand, &(struct hand_sample){.time_ns = 1500 * ms});
	hand_profile_add(hand, &(struct hand_sample){.state = "sleeping", .time_ns = 1600 * ms});
	heat = made(hand, &query, &options);
	assert_int_equal(heat->n_rows, 3);
	assert_string_equal(heat->row_labels[0], "sleeping");
	assert_string_equal(heat->row_labels[1], "[no state]");
	assert_string_equal(heat->row_labels[2], "running");
	assert_cell(heat, 0, 0, 1, 1);
	assert_cell(heat, 1, 0, 1, 1);
	assert_cell(heat, 1, 1, 1, 1);
	assert_cell(heat, 0, 2, 1, 1);
	heat_free(heat);
	options.n_rows = 2;
	heat = made(hand, &query, &options);
	assert_int_equal(heat->n_rows, 2);
	assert_string_equal(heat->row_labels[1], "[2 others]");
	assert_cell(heat, 0, 1, 1, 1);
	assert_cell(heat, 1, 1, 1, 1);
	heat_free(heat);
}

static void says_which_columns_would_do(void **state)
{
	struct query query = {0};
	struct heat_options options = {0};
	const struct selection *selection;
	struct heat *heat = NULL;
	struct hand_profile *hand = *state;
	struct err err = {0};

	add_at(hand, 0);
	add_at(hand, 2000000 * (1000 * ms));
	selection = hand_profile_select(hand, &query);
	assert_int_equal(heat_make(selection, &options, &heat, &err), -E2BIG);
	assert_non_null(strstr(err.text, "columns of 10 s"));
	options.column_ns = 10000 * ms;
	assert_int_equal(heat_make(selection, &options, &heat, &err), 0);
	assert_int_equal(heat->n_columns, 200001);
	heat_free(heat);
	options = (struct heat_options){.by = "colour"};
	assert_int_equal(heat_make(selection, &options, &heat, &err), -ENOENT);
	options = (struct heat_options){.n_rows = HEAT_MAX_ROWS + 1};
	assert_int_equal(heat_make(selection, &options, &heat, &err), -E2BIG);
}

/* A recording of wall time at 1000 Hz: a weight of 1 is 1 ms. */
static void is_wall_time(struct hand_profile *hand)
{
	const uint32_t name = hand->profile.event_names[0];

	hand->profile.is_wick = true;
	hand->profile.hz = 1000;
	free((char *)hand->profile.strings[name]);
	hand->profile.strings[name] = strdup("wall-clock");
}

static void add_wait(struct hand_profile *hand, int32_t tid, uint64_t end_ms, uint64_t wait_ms)
{
	hand_profile_add(hand, &(struct hand_sample){.time_ns = end_ms * ms,
						     .stack = "main",
						     .comm = "a",
						     .pid = 1,
						     .tid = tid,
						     .weight = wait_ms});
}

static int64_t sum_of(const struct heat *heat)
{
	int64_t sum = 0;

	for (size_t i = 0; i < heat->n_columns * heat->n_rows; i++)
		sum += heat->values[i];
	return sum;
}

/* Thread 1 waits for 2.03 s until 2.05 s; thread 2 for 30 ms, and then 20 ms. */
static void add_waits(struct hand_profile *hand)
{
	hand->profile.start_ns = 5000 * ms;
	add_wait(hand, 2, 0, 0);
	hand->profile.weights[0] = 0; /* which is 1 as it was added */
	add_wait(hand, 2, 1030, 30);
	add_wait(hand, 2, 1050, 20);
	add_wait(hand, 1, 2050, 2030);
	is_wall_time(hand);
}

static void a_wait_is_in_all_cells_of_its_time(void **state)
{
	const struct heat_options options = {.n_rows = 50};
	const struct query query = {0};
	struct hand_profile *hand = *state;
	struct heat *heat;

	add_waits(hand);
	heat = made(hand, &query, &options);
	assert_cell(heat, 0, 0, 0, 1); /* of the sample that stands for nothing */
	assert_cell(heat, 0, 1, 20 * (int64_t)ms, 1);
	assert_cell(heat, 0, 49, 20 * (int64_t)ms, 1);
	assert_cell(heat, 1, 0, 40 * (int64_t)ms, 2);
	assert_cell(heat, 1, 1, 40 * (int64_t)ms, 3);
	assert_cell(heat, 1, 2, 30 * (int64_t)ms, 2);
	assert_cell(heat, 1, 3, 20 * (int64_t)ms, 1);
	assert_cell(heat, 2, 2, 10 * (int64_t)ms, 1);
	assert_cell(heat, 2, 3, 0, 0);
	assert_int_equal(sum_of(heat), 2080 * ms);
	assert_int_equal(heat->max, 40 * ms);
	heat_free(heat);
}

static void a_wait_is_in_all_columns_of_its_row(void **state)
{
	const struct heat_options options = {.column_ns = 500000000, .by = "tid"};
	const struct query query = {0};
	struct hand_profile *hand = *state;
	struct heat *heat;

	add_waits(hand);
	heat = made(hand, &query, &options);
	assert_string_equal(heat->row_labels[0], "1");
	assert_cell(heat, 0, 0, 480 * (int64_t)ms, 1);
	assert_cell(heat, 1, 0, 500 * (int64_t)ms, 1);
	assert_cell(heat, 3, 0, 500 * (int64_t)ms, 1);
	assert_cell(heat, 4, 0, 50 * (int64_t)ms, 1);
	assert_cell(heat, 1, 1, 0, 0);
	assert_cell(heat, 2, 1, 50 * (int64_t)ms, 2);
	assert_int_equal(sum_of(heat), 2080 * ms);
	heat_free(heat);
}

/* Its sum is that of the cells; the largest value is that of a whole sample. */
static void a_part_of_the_time_has_its_part_of_a_wait(void **state)
{
	struct heat_options options = {.n_rows = 50};
	struct query query = {.n_ranges = 1,
			      .ranges = {{.from_ns = 1000 * ms, .to_ns = 1040 * ms}}};
	struct hand_profile *hand = *state;
	struct heat *heat;

	add_waits(hand);
	heat = made(hand, &query, &options);
	assert_cell(heat, 0, 49, 0, 0);
	assert_cell(heat, 1, 0, 40 * (int64_t)ms, 2);
	assert_cell(heat, 1, 1, 40 * (int64_t)ms, 3);
	assert_cell(heat, 1, 2, 0, 0);
	assert_int_equal(sum_of(heat), 80 * ms);
	assert_int_equal(hand->selection->values[0] + hand->selection->values[1] +
				 hand->selection->values[2],
			 80 * ms);
	heat_free(heat);
	query.n_ranges = 0;
	options.largest = true;
	heat = made(hand, &query, &options);
	assert_cell(heat, 1, 0, 0, 0);
	assert_cell(heat, 2, 2, 2030 * (int64_t)ms, 1);
	heat_free(heat);
}

/* Two samples of a thread at one moment are one after the other; before all columns there is none.
 */
static bool in_rows_ms(const struct query_every *rows, uint64_t at_ms)
{
	uint64_t rest_ns = rows->every_ns ? at_ms * ms % rows->every_ns : 0;

	return rows->every_ns == 0 || (rest_ns >= rows->from_ns && rest_ns < rows->to_ns);
}

/* Of a wait, its milliseconds since the profile's start one by one. */
static int64_t part_of_wait(const struct query *query, uint64_t shift_ms, uint64_t from_ms,
			    uint64_t to_ms)
{
	int64_t sum = 0;

	for (uint64_t at = from_ms; at < to_ms; at++) {
		bool taken = query->n_ranges == 0;

		for (size_t i = 0; i < query->n_ranges; i++)
			taken |= at * ms >= query->ranges[i].from_ns &&
				 at * ms < query->ranges[i].to_ns &&
				 in_rows_ms(&query->ranges[i].every, at + shift_ms);
		sum += taken && in_rows_ms(&query->every, at + shift_ms);
	}
	return sum * (int64_t)ms;
}

static void rows_of_ranges_and_of_every_period_have_their_part_of_a_wait(void **state)
{
	static const struct query_every periods[] = {
		{0, 0, 0},
		{70 * ms, 20 * ms, 50 * ms},
		{1000 * ms, 100 * ms, 800 * ms},
		{1500 * ms, 0, 700 * ms},
		{250 * ms, 249 * ms, 250 * ms},
	};
	struct query query = {
		.n_ranges = 3,
		.ranges = {{.from_ns = 30 * ms,
			    .to_ns = 1800 * ms,
			    .every = {1000 * ms, 100 * ms, 400 * ms}},
			   {.to_ns = 1100 * ms, .every = {1000 * ms, 300 * ms, 500 * ms}},
			   {.from_ns = 1500 * ms, .to_ns = 1600 * ms}},
	};
	const struct heat_options options = {0};
	struct hand_profile *hand = *state;

	add_waits(hand);
	hand->profile.start_ns = 5250 * ms;
	for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
		struct heat *heat;

		query.every = periods[i];
		heat = made(hand, &query, &options);
		assert_int_equal(sum_of(heat), part_of_wait(&query, 250, 1000, 1030) +
						       part_of_wait(&query, 250, 1030, 1050) +
						       part_of_wait(&query, 250, 20, 2050));
		heat_free(heat);
	}
	/* These repeat together after 7001 s: a sample is where it was taken, at 2.05 s. */
	query.every = (struct query_every){7001 * ms, 0, 7000 * ms};
	query.ranges[0].to_ns = 2100 * ms;
	query.ranges[0].every.to_ns = 900 * ms;
	assert_int_equal(hand_profile_select(hand, &query)->n, 3);
}

static void no_thread_is_in_two_states_at_a_time(void **state)
{
	const struct heat_options options = {.n_rows = 50};
	const struct query query = {0};
	struct hand_profile *hand = *state;
	struct heat *heat;

	add_wait(hand, 1, 0, 100);
	add_wait(hand, 1, 100, 10);
	add_wait(hand, 1, 100, 60);
	is_wall_time(hand);
	heat = made(hand, &query, &options);
	assert_cell(heat, 0, 0, 100 * (int64_t)ms, 1);
	assert_cell(heat, 0, 1, 10 * (int64_t)ms, 1);
	assert_cell(heat, 0, 2, 20 * (int64_t)ms, 1);
	assert_cell(heat, 0, 4, 20 * (int64_t)ms, 1);
	assert_cell(heat, 0, 5, 0, 0);
	assert_int_equal(sum_of(heat), 170 * ms);
	heat_free(heat);
}

static void other_weights_stay_where_they_are(void **state)
{
	const struct heat_options options = {.n_rows = 50};
	const struct query query = {0};
	struct hand_profile *hand = *state;
	struct heat *heat;

	add_wait(hand, 1, 0, 1);
	add_wait(hand, 1, 900, 500);
	hand->profile.is_wick = true;
	hand->profile.hz = 1000;
	heat = made(hand, &query, &options);
	assert_cell(heat, 0, 44, 0, 0);
	assert_cell(heat, 0, 45, 500 * (int64_t)ms, 1);
	heat_free(heat);
}

static size_t fitting_rows(struct hand_profile *hand, size_t n, uint64_t distance_ns, uint32_t most)
{
	const struct heat_options options = {.most_rows = most};
	const struct query query = {0};
	struct heat *heat;
	size_t n_rows;

	hand_profile_release(hand);
	hand_profile_init(hand, 0);
	for (size_t i = 0; i < n; i++)
		add_at(hand, i * distance_ns);
	heat = made(hand, &query, &options);
	n_rows = heat->n_rows;
	heat_free(heat);
	return n_rows;
}

static void has_as_many_rows_as_samples_allow(void **state)
{
	struct hand_profile *hand = *state;

	assert_int_equal(fitting_rows(hand, 1000, 1 * ms, 0), 50);
	assert_int_equal(fitting_rows(hand, 1000, 5 * ms, 0), 50);
	assert_int_equal(fitting_rows(hand, 1000, 6 * ms, 0), 40);
	assert_int_equal(fitting_rows(hand, 1000, 10 * ms, 0), 25);
	assert_int_equal(fitting_rows(hand, 1000, 10101010, 0), 20); /* 99 Hz */
	assert_int_equal(fitting_rows(hand, 1000, 50 * ms, 0), 20);
	assert_int_equal(fitting_rows(hand, 199, 50 * ms, 0), 50); /* few */
	assert_int_equal(fitting_rows(hand, 1000, 1 * ms, 25), 25);
	assert_int_equal(fitting_rows(hand, 1000, 10101010, 25), 20);
}

/* The shortest column of a recording of so many milliseconds, in milliseconds. */
static uint64_t shortest_column(uint64_t length_ms)
{
	const uint64_t *columns_ns;
	size_t n = heat_columns(length_ms * ms, &columns_ns);

	assert_int_equal(columns_ns[n - 1], UINT64_C(86400) * 1000 * ms);
	return columns_ns[0] / ms;
}

static void a_short_recording_has_columns_of_a_part_of_a_second(void **state)
{
	static const uint64_t lengths_ms[] = {50, 300, 1000, 2500, 3000, 7000, 12000, 15900};

	(void)state;
	assert_int_equal(shortest_column(0), 1000); /* one moment */
	assert_int_equal(shortest_column(1), 1);
	assert_int_equal(shortest_column(2980), 100);
	assert_int_equal(shortest_column(16000), 1000);
	assert_int_equal(shortest_column(86400000), 1000);
	for (size_t i = 0; i < sizeof(lengths_ms) / sizeof(lengths_ms[0]); i++) {
		uint64_t column = shortest_column(lengths_ms[i]);

		assert_in_range(lengths_ms[i] / column, 28, 80);
		assert_int_equal(1000 % column, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		hand_profile_test(has_columns_of_the_clocks_whole_seconds),
		hand_profile_test(a_cell_may_be_its_largest_value),
		hand_profile_test(puts_a_sample_on_an_edge_into_the_cell_that_begins),
		hand_profile_test(begins_its_columns_later_by_a_phase),
		hand_profile_test(keeps_its_columns_whatever_is_selected),
		hand_profile_test(tells_zero_from_nothing),
		hand_profile_test(shows_the_mean_of_a_level),
		hand_profile_test(takes_its_scale_from_rows_that_have_a_name),
		hand_profile_test(does_not_wrap_around),
		hand_profile_test(shows_a_dimension_by_time),
		hand_profile_test(says_which_columns_would_do),
		hand_profile_test(a_wait_is_in_all_cells_of_its_time),
		hand_profile_test(a_wait_is_in_all_columns_of_its_row),
		hand_profile_test(a_part_of_the_time_has_its_part_of_a_wait),
		hand_profile_test(rows_of_ranges_and_of_every_period_have_their_part_of_a_wait),
		hand_profile_test(no_thread_is_in_two_states_at_a_time),
		hand_profile_test(other_weights_stay_where_they_are),
		hand_profile_test(has_as_many_rows_as_samples_allow),
		cmocka_unit_test(a_short_recording_has_columns_of_a_part_of_a_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
