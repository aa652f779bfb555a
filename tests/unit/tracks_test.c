/* tracks_test.c - which processes and threads a selection has, how much each, and when */
#include "flamescope/heat/tracks.h"

#include "tests/unit/flamescope/hand_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { N_BINS = 10 };

static const char *const states[] = {"running", "sleeping", NULL};

static struct tracks *made(struct hand_profile *hand, double from_ns, double to_ns)
{
	const struct query query = {.has_measure = true, .measure = QUERY_WEIGHT};
	const struct tracks_window window = {from_ns, to_ns, N_BINS, false};
	struct selection *selection = hand_profile_select(hand, &query);
	struct tracks *tracks = NULL;
	struct err err = {0};

	if (tracks_make(selection, selection, &window, states, &tracks, &err) < 0)
		fail_msg("%s", err.text);
	return tracks;
}

static void add(struct hand_profile *hand, uint64_t time_ns, int32_t pid, int32_t tid,
		const char *state, uint64_t weight)
{
	hand_profile_add(hand, &(struct hand_sample){.time_ns = time_ns,
						     .stack = "main",
						     .comm = "app",
						     .pid = pid,
						     .tid = tid,
						     .state = state,
						     .weight = weight});
}

static void assert_row(const struct tracks *tracks, size_t i, const char *label, unsigned level,
		       size_t n_threads, double amount)
{
	assert_true(i < tracks->n);
	assert_string_equal(tracks->rows[i].label, label);
	assert_int_equal(tracks->rows[i].level, level);
	assert_int_equal(tracks->rows[i].n_threads, n_threads);
	assert_true(tracks->rows[i].amount == amount);
}

static void assert_cell(const struct tracks *tracks, size_t i, uint32_t bin, uint32_t number,
			double amount)
{
	assert_true(i < tracks->n_cells);
	assert_int_equal(tracks->cells[i].at, bin * tracks->n_states + number);
	assert_true(tracks->cells[i].amount == amount);
}

static void lists_processes_before_their_threads_most_first(void **state)
{
	struct hand_profile *hand = *state;
	struct tracks *tracks;

	add(hand, 0, 1, 1, NULL, 1);
	add(hand, 10, 1, 2, NULL, 4);
	add(hand, 20, 9, 9, NULL, 7);
	tracks = made(hand, 0, 100);
	assert_int_equal(tracks->n, 4);
	assert_row(tracks, 0, "app/9", 1, 0, 7);
	assert_row(tracks, 1, "app/1", 1, 2, 5);
	assert_row(tracks, 2, "app/2", 2, 0, 4);
	assert_row(tracks, 3, "app/1", 2, 0, 1);
	assert_true(tracks->total == 12);
	tracks_free(tracks);
}

static void puts_a_sample_into_the_bin_of_its_time_and_state(void **state)
{
	struct hand_profile *hand = *state;
	struct tracks *tracks;

	add(hand, 0, 1, 1, "running", 1);
	add(hand, 5, 1, 1, "running", 2);
	add(hand, 10, 1, 1, "sleeping", 4);
	add(hand, 99, 1, 1, "flying", 8);
	tracks = made(hand, 0, 100);
	assert_int_equal(tracks->n_states, 3);
	assert_int_equal(tracks->n_cells, 3);
	assert_cell(tracks, 0, 0, 0, 3);
	assert_cell(tracks, 1, 1, 1, 4);
	assert_cell(tracks, 2, 9, 2, 8);
	assert_true(tracks->rows[0].running == 3);
	assert_true(tracks->most[1] == 8);
	tracks_free(tracks);
}

static void leaves_out_what_is_not_in_the_window(void **state)
{
	struct hand_profile *hand = *state;
	struct tracks *tracks;

	add(hand, 0, 1, 1, NULL, 1);
	add(hand, 50, 1, 1, NULL, 2);
	add(hand, 100, 1, 1, NULL, 4);
	tracks = made(hand, 40, 100);
	assert_int_equal(tracks->n_cells, 1);
	assert_cell(tracks, 0, 1, 2, 2);
	assert_row(tracks, 0, "app/1", 1, 0, 7);
	tracks_free(tracks);
}

static void is_empty_without_a_sample(void **state)
{
	struct tracks *tracks = made(*state, 0, 100);

	assert_int_equal(tracks->n, 0);
	assert_int_equal(tracks->n_cells, 0);
	tracks_free(tracks);
	tracks_free(NULL);
}

static void adds_what_was_before_to_the_first_bin(void **state)
{
	const struct query query = {0};
	const struct tracks_window window = {10, 20, 2, true};
	struct hand_profile *hand = *state;
	double bins[4] = {0};

	add(hand, 0, 1, 1, NULL, 1);
	add(hand, 16, 1, 1, NULL, 1);
	add(hand, 20, 1, 1, NULL, 1);
	for (size_t i = 0; i < 3; i++)
		tracks_add(hand_profile_select(hand, &query), i, 3, &window, bins, 2);
	assert_true(bins[0] == 3 && bins[1] == 0 && bins[2] == 3 && bins[3] == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		hand_profile_test(lists_processes_before_their_threads_most_first),
		hand_profile_test(puts_a_sample_into_the_bin_of_its_time_and_state),
		hand_profile_test(leaves_out_what_is_not_in_the_window),
		hand_profile_test(is_empty_without_a_sample),
		hand_profile_test(adds_what_was_before_to_the_first_bin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
