/* flame_test.c - stacks merged into graphs, and what is known of functions and of calls */
#include "flamescope/flame/flame.h"

#include "tests/unit/flamescope/hand_profile.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void add_stack(struct hand_profile *hand, const char *stack)
{
	hand_profile_add(hand, &(struct hand_sample){.stack = stack});
}

/* The node of "main;f"; "" is the root. */
static const struct flame_node *node_of(const struct flame *flame, const char *path)
{
	const struct flame_node *node = &flame->nodes[0];
	char copy[128];
	char *rest = copy;
	char *name;

	(void)strcpy(copy, path);
	while ((name = strsep(&rest, ";")) != NULL && *name) {
		uint32_t at = node->first_child;

		while (at != FLAME_NONE &&
		       strcmp(selection_frame_name(flame->selection, flame->nodes[at].frame),
			      name) != 0)
			at = flame->nodes[at].next;
		if (at == FLAME_NONE)
			fail_msg("there is no '%s' in '%s'", name, path);
		node = &flame->nodes[at];
	}
	return node;
}

static void assert_node(const struct flame *flame, const char *path, uint64_t gain,
			uint64_t self_gain)
{
	const struct flame_node *node = node_of(flame, path);

	if (node->gain != gain || node->self_gain != self_gain)
		fail_msg("'%s' has %llu, itself %llu", path, (unsigned long long)node->gain,
			 (unsigned long long)node->self_gain);
}

static void assert_whole(const struct flame *flame)
{
	for (uint32_t i = 1; i < flame->n_nodes; i++) {
		const struct flame_node *node = &flame->nodes[i];
		const struct flame_node *parent = &flame->nodes[node->parent];

		assert_true(node->parent < i);
		assert_true(node[-1].parent <= node->parent); /* row by row */
		assert_true(node->next == FLAME_NONE || node->next == i + 1);
		assert_int_equal(node->depth, parent->depth + 1);
		assert_true(node->depth <= flame->depth);
	}
	for (uint32_t i = 0; i < flame->n_nodes; i++) {
		uint64_t gain = flame->nodes[i].self_gain;

		for (uint32_t at = flame->nodes[i].first_child; at; at = flame->nodes[at].next) {
			assert_int_equal(flame->nodes[at].parent, i);
			gain += flame->nodes[at].gain;
		}
		assert_int_equal(gain, flame->nodes[i].gain);
	}
}

static void make_graph(struct hand_profile *hand)
{
	add_stack(hand, "main;f;h");
	add_stack(hand, "main;g;h");
	add_stack(hand, "main;f");
	add_stack(hand, "main;f;h");
	add_stack(hand, "start;f;h;x");
}

static struct flame *graph(const struct selection *selection, enum flame_order order,
			   const char *around)
{
	struct flame *flame = NULL;

	assert_int_equal(flame_make(selection, order, around, &flame), 0);
	assert_whole(flame);
	return flame;
}

static void merges_stacks_from_their_roots(void **state)
{
	struct query query = {0};
	struct hand_profile *hand = *state;
	struct selection *selection;
	struct flame *flame;

	make_graph(hand);
	selection = hand_profile_select(hand, &query);
	flame = graph(selection, FLAME_CALLS, NULL);
	assert_int_equal(flame->depth, 4);
	assert_int_equal(flame->n_nodes, 10);
	assert_node(flame, "", 5, 0);
	assert_node(flame, "main", 4, 0);
	assert_node(flame, "main;f", 3, 1);
	assert_node(flame, "main;f;h", 2, 2);
	assert_node(flame, "start;f;h;x", 1, 1);
	flame_free(flame);
}

static void orders_siblings_by_name(void **state)
{
	struct query query = {0};
	struct hand_profile *hand = *state;
	struct selection *selection;
	struct flame *flame;
	char names[8] = "";
	size_t n = 0;

	add_stack(hand, "c");
	add_stack(hand, "a;c");
	add_stack(hand, "d");
	add_stack(hand, "b;a");
	selection = hand_profile_select(hand, &query);
	flame = graph(selection, FLAME_CALLS, NULL);
	for (uint32_t at = flame->nodes[0].first_child; at; at = flame->nodes[at].next)
		names[n++] = *selection_frame_name(selection, flame->nodes[at].frame);
	assert_string_equal(names, "abcd");
	flame_free(flame);
}

static void turns_stacks_around(void **state)
{
	struct query query = {0};
	struct hand_profile *hand = *state;
	struct selection *selection;
	struct flame *flame;

	make_graph(hand);
	add_stack(hand, NULL);
	selection = hand_profile_select(hand, &query);
	flame = graph(selection, FLAME_REVERSE, NULL);
	assert_node(flame, "", 6, 1);
	assert_node(flame, "h", 3, 0);
	assert_node(flame, "h;f;main", 2, 2);
	assert_node(flame, "h;g;main", 1, 1);
	assert_node(flame, "f;main", 1, 1);
	assert_node(flame, "x;h;f;start", 1, 1);
	assert_int_equal(flame->cut, 0);
	flame_free(flame);
}

static void shows_callers_and_callees_of_a_frame(void **state)
{
	struct query query = {0};
	struct hand_profile *hand = *state;
	struct selection *selection;
	struct flame *flame;

	make_graph(hand);
	add_stack(hand, "main;f;f;g");
	selection = hand_profile_select(hand, &query);
	flame = graph(selection, FLAME_CALLS, "f");
	assert_node(flame, "", 5, 0);
	assert_node(flame, "f", 5, 1);
	assert_node(flame, "f;h", 3, 2);
	assert_node(flame, "f;f;g", 1, 1);
	flame_free(flame);
	flame = graph(selection, FLAME_REVERSE, "f");
	assert_node(flame, "", 5, 0);
	assert_node(flame, "f", 5, 0);
	assert_node(flame, "f;main", 4, 4); /* from the outermost f on: no f;f */
	assert_node(flame, "f;start", 1, 1);
	assert_int_equal(flame->n_nodes, 4);
	flame_free(flame);
}

/* f allocates 100 bytes, and g, called by it, frees 60. */
static void keeps_gain_and_loss_apart(void **state)
{
	struct query query = {.has_measure = true, .measure = QUERY_DELTA, .metric = "bytes"};
	struct flame_function *functions = NULL;
	const struct flame_node *node;
	struct hand_profile *hand = *state;
	struct selection *selection;
	struct flame *flame;
	size_t n = 0;

	hand_profile_add(hand,
			 &(struct hand_sample){.stack = "main;f", .measured = true, .delta = 100});
	hand_profile_add(
		hand, &(struct hand_sample){.stack = "main;f;g", .measured = true, .delta = -60});
	add_stack(hand, "main;h");
	selection = hand_profile_select(hand, &query);
	flame = graph(selection, FLAME_CALLS, NULL);
	node = node_of(flame, "main;f");
	assert_int_equal(node->gain, 100);
	assert_int_equal(node->loss, 60);
	assert_int_equal(node->self_loss, 0);
	assert_int_equal(node->samples, 2);
	node = node_of(flame, "main;f;g");
	assert_int_equal(node->gain, 0);
	assert_int_equal(node->self_loss, 60);
	assert_int_equal(node_of(flame, "main")->first_child, node_of(flame, "main;f;g")->parent);
	assert_int_equal(node_of(flame, "main;f")->next, FLAME_NONE); /* h has no value */
	flame_free(flame);
	assert_int_equal(flame_functions(selection, &functions, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(functions[2].frame, hand_profile_frame(hand, "g"));
	assert_int_equal(functions[2].loss, 60);
	assert_int_equal(functions[2].gain, 0);
	free(functions);
}

static const struct flame_function *function_of(const struct hand_profile *hand,
						const struct flame_function *functions, size_t n,
						const char *name)
{
	const struct profile *profile = &hand->profile;

	for (size_t i = 0; i < n; i++) {
		uint32_t frame = functions[i].frame;

		if (frame < profile->n_frames &&
		    strcmp(profile->strings[profile->frames[frame].name], name) == 0)
			return &functions[i];
	}
	fail_msg("there is no '%s'", name);
	return NULL;
}

static void counts_recursion_once(void **state)
{
	struct query query = {0};
	struct flame_function *functions = NULL;
	const struct flame_function *f;
	struct hand_profile *hand = *state;
	struct selection *selection;
	size_t n = 0;

	add_stack(hand, "main;f;f;g;f");
	add_stack(hand, "main;f;g");
	add_stack(hand, "main;g;f");
	selection = hand_profile_select(hand, &query);
	assert_int_equal(flame_functions(selection, &functions, &n), 0);
	assert_int_equal(n, 3);
	f = function_of(hand, functions, n, "f");
	assert_int_equal(f->gain, 3);
	assert_int_equal(f->self_gain, 2);
	assert_int_equal(f->samples, 3);
	assert_int_equal(f->calls, 5);
	f = function_of(hand, functions, n, "g");
	assert_int_equal(f->gain, 3);
	assert_int_equal(f->self_gain, 1);
	f = function_of(hand, functions, n, "main");
	assert_int_equal(f->gain, 3);
	assert_int_equal(f->calls, 0);
	free(functions);
}

static const struct flame_edge *edge_of(struct hand_profile *hand, const struct flame_edge *edges,
					size_t n, const char *caller, const char *callee)
{
	for (size_t i = 0; i < n; i++) {
		if (edges[i].caller == hand_profile_frame(hand, caller) &&
		    edges[i].callee == hand_profile_frame(hand, callee))
			return &edges[i];
	}
	fail_msg("'%s' does not call '%s'", caller, callee);
	return NULL;
}

static void knows_who_calls_whom(void **state)
{
	struct query query = {.n_groups = 1, .groups = {"state"}};
	struct flame_edge *edges = NULL;
	struct hand_profile *hand = *state;
	struct selection *selection;
	size_t n = 0;

	add_stack(hand, "main;f;g;f;g");
	hand_profile_add(hand, &(struct hand_sample){.stack = "main;f", .state = "running"});
	add_stack(hand, "main;g");
	selection = hand_profile_select(hand, &query);
	assert_int_equal(flame_edges(selection, &edges, &n), 0);
	assert_int_equal(n, 4); /* no group calls main */
	assert_int_equal(edge_of(hand, edges, n, "main", "f")->gain, 2);
	assert_int_equal(edge_of(hand, edges, n, "f", "g")->gain, 1); /* twice, in one sample */
	assert_int_equal(edge_of(hand, edges, n, "g", "f")->samples, 1);
	assert_int_equal(edge_of(hand, edges, n, "main", "g")->gain, 1);
	assert_int_equal(edges[0].callee, hand_profile_frame(hand, "f"));
	free(edges);
}

static void splits_a_stack_by_groups(void **state)
{
	struct query query = {.n_groups = 1, .groups = {"state"}};
	struct flame_function *functions = NULL;
	struct hand_profile *hand = *state;
	struct selection *selection;
	struct flame *flame;
	size_t n = 0;

	hand_profile_add(hand, &(struct hand_sample){.stack = "main;f", .state = "running"});
	hand_profile_add(hand, &(struct hand_sample){.stack = "main;f", .state = "sleeping"});
	hand_profile_add(hand, &(struct hand_sample){.stack = "main;f", .state = "sleeping"});
	selection = hand_profile_select(hand, &query);
	flame = graph(selection, FLAME_CALLS, NULL);
	assert_node(flame, "running;main;f", 1, 1);
	assert_node(flame, "sleeping;main;f", 2, 2);
	assert_int_equal(flame->n_nodes, 7);
	flame_free(flame);
	/* f is one function all the same, and groups are rows. */
	assert_int_equal(flame_functions(selection, &functions, &n), 0);
	assert_int_equal(n, 4);
	assert_int_equal(function_of(hand, functions, n, "f")->gain, 3);
	assert_int_equal(function_of(hand, functions, n, "f")->calls, 3);
	assert_int_equal(function_of(hand, functions, n, "main")->calls, 0);
	free(functions);
}

static void is_a_root_when_nothing_is_selected(void **state)
{
	struct query query = {.n_exclude = 1, .exclude = {"."}};
	struct flame_function *functions = NULL;
	struct hand_profile *hand = *state;
	struct selection *selection;
	struct flame *flame;
	size_t n = 1;

	make_graph(hand);
	selection = hand_profile_select(hand, &query);
	flame = graph(selection, FLAME_CALLS, NULL);
	assert_int_equal(flame->n_nodes, 1);
	flame_free(flame);
	flame = graph(selection, FLAME_REVERSE, "main");
	assert_int_equal(flame->n_nodes, 1);
	flame_free(flame);
	assert_int_equal(flame_functions(selection, &functions, &n), 0);
	assert_int_equal(n, 0);
	free(functions);
}

static void sorts_a_profile_once(void **state)
{
	struct query query = {0};
	struct hand_profile *hand = *state;
	struct selection *selection;
	struct flame *flame;

	make_graph(hand);
	assert_int_equal(flame_sort_profile(&hand->profile), 0);
	assert_true(hand->profile.in_rows);
	selection = hand_profile_select(hand, &query);
	flame = graph(selection, FLAME_CALLS, NULL);
	assert_int_equal(flame->n_nodes, 10);
	assert_node(flame, "main", 4, 0);
	assert_node(flame, "main;f", 3, 1);
	assert_node(flame, "main;g;h", 1, 1);
	assert_node(flame, "start;f;h;x", 1, 1);
	flame_free(flame);
}

static uint32_t frame_called(const struct profile *profile, const char *name)
{
	for (uint32_t i = 0; i < profile->n_frames; i++)
		if (strcmp(profile->strings[profile->frames[i].name], name) == 0)
			return i;
	fail_msg("there is no %s", name);
	return 0;
}

/* As a file of somebody else's may have them: main calls f, and f. */
static void merges_siblings_that_are_alike(void **state)
{
	struct query query = {0};
	struct hand_profile *hand = *state;
	struct selection *selection;
	struct flame *flame;
	uint32_t f, g;

	make_graph(hand);
	f = frame_called(&hand->profile, "f");
	g = frame_called(&hand->profile, "g");
	for (size_t i = 1; i < hand->profile.n_nodes; i++)
		if (hand->profile.nodes[i].frame == g)
			hand->profile.nodes[i].frame = f;
	assert_int_equal(flame_sort_profile(&hand->profile), 0);
	assert_false(hand->profile.in_rows);
	selection = hand_profile_select(hand, &query);
	flame = graph(selection, FLAME_CALLS, NULL);
	assert_node(flame, "main;f", 4, 1);
	assert_node(flame, "main;f;h", 3, 3);
	flame_free(flame);
}

/* Sampled at each of its depths, as a deep recursion is: 5,000 million steps, if all were made. */
static void bears_stacks_of_100000_frames(void **state)
{
	struct query query = {0};
	struct flame_function *functions = NULL;
	struct hand_profile *hand = *state;
	struct selection *selection;
	struct flame *flame;
	uint32_t deepest;
	size_t n = 0;

	deepest = hand_profile_stack(hand, "f", 100000);
	for (uint32_t i = 0; i < 100000; i++) {
		add_stack(hand, NULL);
		hand->profile.stacks[i] = deepest - i;
	}
	selection = hand_profile_select(hand, &query);
	flame = graph(selection, FLAME_CALLS, NULL);
	assert_int_equal(flame->depth, 100000);
	assert_int_equal(flame->nodes[0].gain, 100000);
	flame_free(flame);
	flame = graph(selection, FLAME_REVERSE, NULL);
	assert_int_equal(flame->nodes[0].gain, 100000);
	assert_true(flame->cut > 50);
	assert_int_equal(flame->depth, flame->cut);
	flame_free(flame);
	assert_int_equal(flame_functions(selection, &functions, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(functions[0].gain, 100000);
	assert_int_equal(functions[0].self_gain, 100000);
	free(functions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		hand_profile_test(merges_stacks_from_their_roots),
		hand_profile_test(orders_siblings_by_name),
		hand_profile_test(turns_stacks_around),
		hand_profile_test(shows_callers_and_callees_of_a_frame),
		hand_profile_test(keeps_gain_and_loss_apart),
		hand_profile_test(counts_recursion_once),
		hand_profile_test(knows_who_calls_whom),
		hand_profile_test(splits_a_stack_by_groups),
		hand_profile_test(is_a_root_when_nothing_is_selected),
		hand_profile_test(sorts_a_profile_once),
		hand_profile_test(merges_siblings_that_are_alike),
		hand_profile_test(bears_stacks_of_100000_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
