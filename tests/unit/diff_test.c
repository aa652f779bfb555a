/* diff_test.c - flamescope/diff on recordings made by hand: what changed, and what is chance */
#include "flamescope/diff/diff.h"

#include "sanitized.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N_FUNCTIONS = 40, A_SECOND = 100, MAX_NODES = 256 };

/* A recording of one thread: function i is called by main, and is frame i and string i + 1. */
struct made {
	struct profile profile;
	struct selection selection;
	const char *strings[MAX_NODES];
	struct profile_frame frames[MAX_NODES];
	struct profile_node nodes[MAX_NODES];
	uint64_t *times;
	size_t n_room;
};

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)random_state * n >> 32);
}

static struct made *made_new(void)
{
	struct made *made = calloc(1, sizeof(*made));

	assert_non_null(made);
	made->strings[0] = "";
	made->profile.strings = made->strings;
	made->profile.n_strings = 1;
	made->profile.frames = made->frames;
	made->selection.profile = &made->profile;
	made->selection.nodes = made->nodes;
	made->selection.n_nodes = 1;
	made->selection.unit = "samples";
	return made;
}

static void made_free(struct made *made)
{
	free(made->selection.samples);
	free(made->selection.stacks);
	free(made->selection.values);
	free(made->times);
	free(made);
}

static uint32_t add_string(struct made *made, const char *text)
{
	for (uint32_t i = 0; i < made->profile.n_strings; i++)
		if (strcmp(made->strings[i], text) == 0)
			return i;
	made->strings[made->profile.n_strings] = text;
	return (uint32_t)made->profile.n_strings++;
}

static uint32_t add_frame(struct made *made, const char *name, const char *module)
{
	made->frames[made->profile.n_frames].name = add_string(made, name);
	made->frames[made->profile.n_frames].module = add_string(made, module);
	return (uint32_t)made->profile.n_frames++;
}

static uint32_t add_node(struct made *made, uint32_t parent, uint32_t frame)
{
	made->nodes[made->selection.n_nodes] =
		(struct profile_node){.parent = parent, .frame = frame};
	return (uint32_t)made->selection.n_nodes++;
}

static void add_sample(struct made *made, uint64_t time_ns, uint32_t stack, int64_t value)
{
	struct selection *selection = &made->selection;

	if (selection->n == made->n_room) {
		made->n_room = made->n_room * 2 + 1024;
		made->times = realloc(made->times, made->n_room * sizeof(*made->times));
		selection->samples =
			realloc(selection->samples, made->n_room * sizeof(*selection->samples));
		selection->stacks =
			realloc(selection->stacks, made->n_room * sizeof(*selection->stacks));
		selection->values =
			realloc(selection->values, made->n_room * sizeof(*selection->values));
		assert_true(made->times && selection->samples && selection->stacks &&
			    selection->values);
		made->profile.times_ns = made->times;
	}
	made->times[selection->n] = time_ns;
	selection->samples[selection->n] = (uint32_t)selection->n;
	selection->stacks[selection->n] = stack;
	selection->values[selection->n++] = value;
	made->profile.n_samples = selection->n;
}

static const char *function_name(size_t i)
{
	static char names[N_FUNCTIONS][8];

	(void)snprintf(names[i], sizeof(names[i]), "f%zu", i);
	return names[i];
}

/*
 * A program as they are: each second does more of one thing than of the others, so that samples of
 * one second are alike.  EXTRA of 10,000 samples are f7's on top.
 */
static struct made *run_program(size_t n_seconds, uint32_t extra)
{
	struct made *made = made_new();
	uint32_t main_node = add_node(made, 0, add_frame(made, "main", "/bin/app"));
	uint32_t first = 0;

	for (size_t i = 0; i < N_FUNCTIONS; i++) {
		uint32_t node =
			add_node(made, main_node, add_frame(made, function_name(i), "/bin/app"));

		first = i == 0 ? node : first;
	}
	for (size_t second = 0; second < n_seconds; second++) {
		uint32_t favourite = random_below(N_FUNCTIONS);

		for (uint64_t i = 0; i < A_SECOND; i++) {
			uint32_t which =
				random_below(10) < 2 ? favourite : random_below(N_FUNCTIONS);

			if (random_below(10000) < extra)
				which = 7;
			add_sample(made, second * 1000000000 + i * 10000000, first + which, 1);
		}
	}
	return made;
}

static const double one_point = 0.01;

/* The sides point at the selections, which outlive the comparison; their arrays have to as well. */
static int compare_one(const struct made *base, const struct made *new_side, struct diff **ret_diff,
		       struct err *err)
{
	static const struct selection *recordings[DIFF_SIDES];
	struct diff_side sides[DIFF_SIDES] = {{1, &recordings[DIFF_BASE]},
					      {1, &recordings[DIFF_NEW]}};

	recordings[DIFF_BASE] = &base->selection;
	recordings[DIFF_NEW] = &new_side->selection;
	return diff_make(sides, one_point, ret_diff, err);
}

static struct diff *compared;

/* Good until the next. */
static struct diff *compare(const struct made *base, const struct made *new_side)
{
	struct err err = {0};

	diff_free(compared);
	compared = NULL;
	assert_int_equal(compare_one(base, new_side, &compared, &err), 0);
	assert_non_null(compared);
	return compared;
}

static int free_compared(void **state)
{
	(void)state;
	diff_free(compared);
	return 0;
}

static const struct diff_function *find(const struct diff *diff, const char *name)
{
	for (size_t i = 0; i < diff->n_functions; i++)
		if (strcmp(diff->functions[i].name, name) == 0)
			return &diff->functions[i];
	fail_msg("no function '%s'", name);
	return NULL;
}

static size_t count_flagged(const struct diff *diff, double below)
{
	size_t n = 0;

	for (size_t i = 0; i < diff->n_functions; i++)
		n += diff->functions[i].self_p < below || diff->functions[i].total_p < below;
	return n;
}

static void flags_five_points_in_5000_samples_a_side(void **state)
{
	(void)state;
	random_state = 11;
	for (unsigned run = 0; run < 5; run++) {
		struct made *base = run_program(50, 0);
		struct made *slower = run_program(50, 500);
		struct diff *diff = compare(base, slower);
		const struct diff_function *f7 = find(diff, "f7");

		assert_int_equal(base->selection.n, 5000);
		assert_true(f7->self_change > 0.03 && f7->self_change < 0.07);
		assert_true(f7->self_p < 0.01);
		assert_true(f7->total_p < 0.01);
		assert_int_equal(count_flagged(diff, 0.01), 1);
		made_free(base);
		made_free(slower);
	}
}

/* Under sanitizers in 4. */
static void flags_nothing_in_20_runs_of_the_unchanged_program(void **state)
{
	(void)state;
	random_state = 12;
	for (unsigned run = 0; run < (SANITIZED ? 4 : 20); run++) {
		struct made *base = run_program(50, 0);
		struct made *again = run_program(50, 0);
		struct diff *diff = compare(base, again);

		assert_int_equal(count_flagged(diff, 0.01), 0);
		assert_int_equal(diff->n_permutations, DIFF_MAX_PERMUTATIONS);
		made_free(base);
		made_free(again);
	}
}

/* One second in which all is different is not a change, as it would be for 100 single samples. */
static void takes_no_burst_of_one_second_for_a_change(void **state)
{
	struct made *base;
	struct made *burst;
	struct diff *diff;

	(void)state;
	random_state = 13;
	base = run_program(20, 0);
	burst = run_program(20, 0);
	for (size_t i = 500; i < 600; i++)
		burst->selection.stacks[i] = burst->selection.stacks[500];
	diff = compare(base, burst);
	assert_true(fabs(diff->functions[0].self_change) > 0.03);
	assert_int_equal(count_flagged(diff, 0.01), 0);
	made_free(base);
	made_free(burst);
}

/* 3 seconds against 3: 20 ways, of which what was seen and its mirror image are the clearest. */
static void tries_every_way_where_there_are_few(void **state)
{
	struct made *sides[DIFF_SIDES];
	struct diff *diff;

	(void)state;
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		uint32_t node;

		sides[side] = made_new();
		node = add_node(sides[side], 0, add_frame(sides[side], side ? "g" : "f", ""));
		for (uint64_t second = 0; second < 3; second++)
			add_sample(sides[side], second * 1000000000, node, 1);
	}
	diff = compare(sides[DIFF_BASE], sides[DIFF_NEW]);
	assert_int_equal(diff->n_permutations, 20);
	assert_true(fabs(diff->smallest_p - 0.1) < 1e-12);
	assert_true(fabs(find(diff, "f")->self_p - 0.1) < 1e-12);
	assert_true(fabs(find(diff, "g")->total_p - 0.1) < 1e-12);
	assert_true(find(diff, "f")->self_change == -1);
	assert_true(find(diff, "g")->self_change == 1);
	made_free(sides[DIFF_BASE]);
	made_free(sides[DIFF_NEW]);
}

static void a_test_in_steps_is_the_same(void **state)
{
	struct made *base;
	struct made *changed;
	struct diff *at_once;
	struct diff *steps = NULL;
	struct diff_side sides[DIFF_SIDES];
	double part = 0;
	double before = -1;

	(void)state;
	random_state = 17;
	base = run_program(20, 0);
	changed = run_program(20, 5);
	at_once = compare(base, changed);
	memcpy(sides, at_once->sides, sizeof(sides));
	assert_int_equal(diff_begin(sides, at_once->least, &steps, NULL), 0);
	assert_true(steps->functions[0].self_p == 1);
	while (part < 1) {
		assert_int_equal(diff_test(steps, 100, &part), 0);
		assert_true(part > before);
		before = part;
	}
	assert_int_equal(diff_test(steps, 100, &part), 0);
	assert_int_equal(steps->n_permutations, at_once->n_permutations);
	assert_true(steps->smallest_p == at_once->smallest_p);
	assert_int_equal(steps->n_functions, at_once->n_functions);
	for (size_t i = 0; i < steps->n_functions; i++) {
		assert_string_equal(steps->functions[i].name, at_once->functions[i].name);
		assert_true(steps->functions[i].self_p == at_once->functions[i].self_p);
		assert_true(steps->functions[i].total_p == at_once->functions[i].total_p);
	}
	diff_free(steps);
	made_free(base);
	made_free(changed);
}

static void says_why_there_is_no_significance(void **state)
{
	struct made *base;
	struct made *shorter;
	struct made *nothing = made_new();
	struct diff *diff;

	(void)state;
	base = run_program(5, 0);
	shorter = run_program(1, 0);
	diff = compare(base, shorter);
	assert_non_null(strstr(diff->no_chance, "a second"));
	assert_int_equal(count_flagged(diff, 1), 0);
	diff = compare(nothing, base);
	assert_non_null(strstr(diff->no_chance, "no samples"));
	assert_true(find(diff, "main")->total_change == 1);
	diff = compare(nothing, nothing);
	assert_int_equal(diff->n_functions, 0);
	assert_int_equal(diff->n_nodes, 1);
	made_free(base);
	made_free(shorter);
	made_free(nothing);
}

static void matches_functions_by_name_and_the_unknown_by_module(void **state)
{
	struct made *base = made_new();
	struct made *moved = made_new();
	struct diff *diff;

	(void)state;
	add_sample(base, 0, add_node(base, 0, add_frame(base, "f", "/old/app")), 1);
	add_sample(base, 0, add_node(base, 0, add_frame(base, "[unknown]", "/old/libx.so")), 1);
	add_sample(moved, 0, add_node(moved, 0, add_frame(moved, "f", "/new/app")), 1);
	add_sample(moved, 0, add_node(moved, 0, add_frame(moved, "[unknown]", "/y/liby.so")), 1);
	diff = compare(base, moved);
	assert_int_equal(diff->n_functions, 3);
	assert_true(find(diff, "f")->self_change == 0);
	assert_true(find(diff, "[unknown] (libx.so)")->self_change == -0.5);
	assert_true(find(diff, "[unknown] (liby.so)")->self_change == 0.5);
	made_free(base);
	made_free(moved);
}

/* f;main of NEW only, g;f;f;main of BASE only, h;main of both. */
static void check_reverse(const struct diff *diff)
{
	struct diff_node *nodes = NULL;
	uint32_t node;
	size_t n = 0;

	assert_int_equal(diff_reverse(diff, &nodes, &n), 0);
	assert_int_equal(n, 1 + 2 + 4 + 2);
	node = nodes[0].first_child;
	assert_string_equal(diff->functions[nodes[node].function].name, "f");
	assert_true(nodes[node].total[DIFF_BASE] == 0 && nodes[node].total[DIFF_NEW] == 0.5);
	assert_true(nodes[node].self_width == 0);
	assert_true(nodes[nodes[node].first_child].self[DIFF_NEW] == 0.5);
	node = nodes[node].next;
	assert_string_equal(diff->functions[nodes[node].function].name, "g");
	assert_true(nodes[node].total[DIFF_BASE] == 0.75);
	assert_true(nodes[0].width == 1);
	free(nodes);
}

/* base: 3 x main;f;f;g and 1 x main;h.  new: 1 x main;f and 1 x main;h. */
static void counts_a_function_once_a_sample_and_merges_the_trees(void **state)
{
	struct made *base = made_new();
	struct made *after = made_new();
	struct diff *diff;
	uint32_t f;
	uint32_t node;
	double self_width = 0;

	(void)state;
	node = add_node(base, 0, add_frame(base, "main", ""));
	add_sample(base, 0, add_node(base, node, add_frame(base, "h", "")), 1);
	f = add_frame(base, "f", "");
	node = add_node(base, add_node(base, node, f), f);
	add_sample(base, 0, add_node(base, node, add_frame(base, "g", "")), 3);
	node = add_node(after, 0, add_frame(after, "main", ""));
	add_sample(after, 0, add_node(after, node, add_frame(after, "f", "")), 1);
	add_sample(after, 0, add_node(after, node, add_frame(after, "h", "")), 1);

	diff = compare(base, after);
	assert_true(find(diff, "f")->total[DIFF_BASE] == 0.75);
	assert_true(find(diff, "f")->total[DIFF_NEW] == 0.5);
	assert_true(find(diff, "f")->self_change == 0.5);
	assert_true(find(diff, "g")->self_change == -0.75);
	assert_true(find(diff, "main")->total_change == 0);
	assert_string_equal(diff->functions[0].name, "g");

	assert_int_equal(diff->n_nodes, 6);
	assert_true(diff->nodes[0].width == 1);
	assert_true(diff->nodes[0].total[DIFF_BASE] == 1 && diff->nodes[0].total[DIFF_NEW] == 1);
	node = diff->nodes[diff->nodes[0].first_child].first_child;
	assert_string_equal(diff->functions[diff->nodes[node].function].name, "f");
	assert_true(diff->nodes[node].total[DIFF_BASE] == 0.75);
	assert_true(diff->nodes[node].width == (0.75 + 0.5) / 2);
	node = diff->nodes[node].next;
	assert_string_equal(diff->functions[diff->nodes[node].function].name, "h");
	assert_int_equal(diff->nodes[node].next, 0);
	check_reverse(diff);
	for (size_t i = 0; i < diff->n_nodes; i++) {
		assert_true(i == 0 || diff->nodes[i].parent < i);
		self_width += diff->nodes[i].self_width;
	}
	assert_true(fabs(self_width - 1) < 1e-12);
	made_free(base);
	made_free(after);
}

/* A metric that shrinks: the whole is what was moved either way. */
static void keeps_the_sign_of_what_shrank(void **state)
{
	struct made *base = made_new();
	struct made *after = made_new();
	struct diff *diff;

	(void)state;
	add_sample(base, 0, add_node(base, 0, add_frame(base, "f", "")), 100);
	add_sample(after, 0, add_node(after, 0, add_frame(after, "f", "")), 100);
	add_sample(after, 0, add_node(after, 0, add_frame(after, "g", "")), -300);
	diff = compare(base, after);
	assert_true(diff->whole[DIFF_NEW] == 400);
	assert_true(find(diff, "g")->self_change == -0.75);
	assert_true(find(diff, "f")->self_change == -0.75);
	made_free(base);
	made_free(after);
}

/* Five recordings of each side, of five seconds; one of the base is much longer. */
static void deals_out_whole_recordings_where_there_are_five(void **state)
{
	enum { N = DIFF_ENOUGH_RECORDINGS };
	const struct selection *recordings[DIFF_SIDES][N];
	struct diff_side sides[DIFF_SIDES] = {{N, recordings[0]}, {N, recordings[1]}};
	struct made *made[DIFF_SIDES][N];
	struct diff *diff = NULL;
	struct err err = {0};

	(void)state;
	random_state = 14;
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		for (size_t i = 0; i < N; i++) {
			made[side][i] = run_program(side + i ? 5 : 12, side ? 1500 : 0);
			recordings[side][i] = &made[side][i]->selection;
		}
	}
	assert_int_equal(diff_make(sides, one_point, &diff, &err), 0);
	assert_int_equal(diff->block_ns, 0);
	assert_int_equal(diff->n_permutations, 252);
	assert_int_equal(diff->n_blocks[DIFF_BASE], N);
	assert_int_equal(diff->n_samples[DIFF_BASE], 3200);
	assert_true(fabs(find(diff, "f7")->self_p - 2.0 / 252) < 1e-12);
	assert_true(find(diff, "main")->total[DIFF_BASE] == 1);
	assert_true(fabs(diff->nodes[0].total[DIFF_BASE] - 1) < 1e-9);
	diff_free(diff);

	sides[DIFF_BASE].n = N - 1;
	assert_int_equal(diff_make(sides, one_point, &diff, &err), 0);
	assert_int_equal(diff->block_ns, 1000000000);
	assert_int_equal(diff->n_blocks[DIFF_BASE], 12 + 3 * 5);
	diff_free(diff);
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		for (size_t i = 0; i < N; i++)
			made_free(made[side][i]);
}

/* 100 samples a second of f, and N of rare(): 1 is just less than a point, 4 are 3.8. */
static struct made *with_a_rare_function(size_t n)
{
	struct made *made = made_new();
	uint32_t f = add_node(made, 0, add_frame(made, "f", ""));
	uint32_t rare = add_node(made, 0, add_frame(made, "rare", ""));

	for (uint64_t second = 0; second < 8; second++) {
		for (uint64_t i = 0; i < 100; i++)
			add_sample(made, second * 1000000000 + i, f, 1);
		for (size_t i = 0; i < n; i++)
			add_sample(made, second * 1000000000 + 100 + i, rare, 1);
	}
	return made;
}

static void leaves_out_what_is_too_small_to_matter(void **state)
{
	struct made *base = with_a_rare_function(0);
	struct made *new_side = NULL;
	struct diff *diff;

	(void)state;
	for (size_t n = 1; n <= 4; n += 3) {
		bool counts = n == 4;

		new_side = with_a_rare_function(n);
		diff = compare(base, new_side);
		assert_true((find(diff, "rare")->self_p < 0.01) == counts);
		assert_true(diff_significant(diff, find(diff, "rare")->self_change, 0.001, 0.01) ==
			    counts);
		made_free(new_side);
	}
	made_free(base);
}

static void refuses_what_cannot_be_compared(void **state)
{
	struct made *base = made_new();
	struct made *other = made_new();
	struct diff *diff = NULL;
	struct err err = {0};

	(void)state;
	other->selection.measure = QUERY_WEIGHT;
	other->selection.unit = "ns";
	assert_int_equal(compare_one(base, other, &diff, &err), -EINVAL);
	assert_non_null(strstr(err.text, "one recording counts samples, another time"));
	base->selection.measure = QUERY_MEAN;
	base->selection.unit = "ns";
	other->selection.measure = QUERY_MEAN;
	assert_int_equal(compare_one(base, other, &diff, &err), -EINVAL);
	assert_non_null(strstr(err.text, "mean"));
	assert_null(diff);
	made_free(base);
	made_free(other);
}

/* Days of seconds are put together to blocks of several. */
static void bounds_the_number_of_blocks(void **state)
{
	struct made *base = made_new();
	struct made *after = made_new();
	struct diff *diff;

	(void)state;
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		struct made *made = side ? after : base;
		uint32_t f = add_node(made, 0, add_frame(made, "f", ""));
		uint32_t g = add_node(made, 0, add_frame(made, "g", ""));

		for (uint64_t second = 0; second < 3000; second++)
			add_sample(made, second * 1000000000, second & 1 ? f : g, 1);
	}
	diff = compare(base, after);
	assert_int_equal(diff->block_ns, 128000000000);
	assert_int_equal(diff->n_blocks[DIFF_BASE], 24);
	assert_int_equal(count_flagged(diff, 1), 0);
	made_free(base);
	made_free(after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags_five_points_in_5000_samples_a_side),
		cmocka_unit_test(flags_nothing_in_20_runs_of_the_unchanged_program),
		cmocka_unit_test(takes_no_burst_of_one_second_for_a_change),
		cmocka_unit_test(tries_every_way_where_there_are_few),
		cmocka_unit_test(a_test_in_steps_is_the_same),
		cmocka_unit_test(says_why_there_is_no_significance),
		cmocka_unit_test(matches_functions_by_name_and_the_unknown_by_module),
		cmocka_unit_test(counts_a_function_once_a_sample_and_merges_the_trees),
		cmocka_unit_test(keeps_the_sign_of_what_shrank),
		cmocka_unit_test(deals_out_whole_recordings_where_there_are_five),
		cmocka_unit_test(leaves_out_what_is_too_small_to_matter),
		cmocka_unit_test(refuses_what_cannot_be_compared),
		cmocka_unit_test(bounds_the_number_of_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, free_compared);
}
