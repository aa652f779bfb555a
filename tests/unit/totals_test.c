/* totals_test.c - rows of exact counts: tasks from the tree, tiers and identities, intervals */
#include "sampler/collector/types/totals_builder.h"

#include "tests/unit/failing_memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 10000 };

static struct totals_builder *new_builder(void)
{
	struct totals_builder *builder;

	assert_int_equal(totals_builder_new(&builder), 0);
	return builder;
}

static struct totals finish(struct totals_builder *builder)
{
	struct totals totals;

	assert_int_equal(totals_builder_finish(builder, &totals), 0);
	return totals;
}

static uint32_t add_node(struct totals_builder *builder, uint32_t parent, enum total_kind kind,
			 const char *name, uint64_t self_ns)
{
	const struct total_node key = {.kind = kind, .name = name, .file = "a.c", .line = 7};
	uint32_t node = totals_builder_node(builder, parent, &key);
	struct total_node *row = totals_builder_at(builder, node);

	assert_int_not_equal(node, 0);
	row->begun++;
	row->ended++;
	row->self_ns += self_ns;
	row->wall_ns += 2 * self_ns;
	if (self_ns > row->max_ns)
		row->max_ns = self_ns;
	if (self_ns / 2 > row->run_max_ns)
		row->run_max_ns = self_ns / 2;
	return node;
}

static void count(struct totals_builder *builder, const char *tier, const char *identity,
		  uint64_t ns)
{
	struct total_tier *row = totals_builder_cell(builder, tier, identity);
	const struct total_tier one = {
		.count = 1, .sum_ns = ns, .self_ns = ns / 2, .min_ns = ns, .max_ns = ns};
	struct histogram_bucket bucket = {.bucket = histogram_bucket_of(ns), .count = 1};
	const struct histogram durations = {.n = 1, .at = &bucket};

	assert_non_null(row);
	total_tier_add(row, &one);
	assert_int_equal(totals_builder_durations(builder, row, &durations), 0);
}

static const struct total_task *task_of(const struct totals *totals, const char *name)
{
	for (size_t i = 0; i < totals->n_tasks; i++)
		if (strcmp(totals->tasks[i].name, name) == 0)
			return &totals->tasks[i];
	fail_msg("there is no row '%s'", name);
	return NULL;
}

static void check_task(const struct totals *totals, const char *name, uint64_t exec_ns,
		       uint64_t children_ns)
{
	assert_int_equal(task_of(totals, name)->exec_ns, exec_ns);
	assert_int_equal(task_of(totals, name)->children_ns, children_ns);
}

static const struct total_tier *tier_of(const struct totals *totals, const char *tier,
					const char *identity)
{
	for (size_t i = 0; i < totals->n_tiers; i++)
		if (strcmp(totals->tiers[i].tier, tier) == 0 &&
		    strcmp(totals->tiers[i].identity, identity) == 0)
			return &totals->tiers[i];
	return NULL;
}

static void children_are_those_of_all_generations(void **state)
{
	struct totals_builder *builder = new_builder();
	uint32_t outer = add_node(builder, 0, TOTAL_TASK, "outer", 10);
	uint32_t middle = add_node(builder, outer, TOTAL_TASK, "middle", 20);
	struct totals totals;

	(void)state;
	(void)add_node(builder, middle, TOTAL_TASK, "inner", 40);
	(void)add_node(builder, outer, TOTAL_TASK, "inner", 80);
	totals = finish(builder);
	assert_int_equal(totals.n_tasks, 3);
	check_task(&totals, "outer", 10, 140);
	check_task(&totals, "middle", 20, 40);
	check_task(&totals, "inner", 120, 0);
	assert_int_equal(task_of(&totals, "inner")->calls, 2);
	assert_int_equal(task_of(&totals, "inner")->exec_max_ns, 80);
	assert_int_equal(task_of(&totals, "inner")->run_max_ns, 40);
	assert_int_equal(totals.nodes[0].cumulative_ns, 150);
	assert_string_equal(totals.tasks[0].name, "outer");
	assert_int_equal(totals.n_nodes, 5);
	totals_release(&totals);
}

/* The time of a place is never among its own children, and those of others have it once. */
static void a_place_inside_itself_has_its_children_once(void **state)
{
	struct totals_builder *builder = new_builder();
	uint32_t first = add_node(builder, 0, TOTAL_TASK, "a", 1);
	uint32_t between = add_node(builder, first, TOTAL_TASK, "b", 2);
	uint32_t again = add_node(builder, between, TOTAL_TASK, "a", 4);
	struct totals totals;

	(void)state;
	(void)add_node(builder, again, TOTAL_TASK, "b", 8);
	(void)add_node(builder, 0, TOTAL_TASK, "b", 16);
	totals = finish(builder);
	check_task(&totals, "a", 5, 10);
	check_task(&totals, "b", 26, 4);
	totals_release(&totals);
}

static void tiers_and_functions_are_part_of_their_task(void **state)
{
	struct totals_builder *builder = new_builder();
	uint32_t task = add_node(builder, 0, TOTAL_TASK, "task", 1);
	uint32_t function = add_node(builder, task, TOTAL_FUNCTION, "function", 2);
	uint32_t tier = add_node(builder, function, TOTAL_TIER, "db", 4);
	uint32_t inner = add_node(builder, tier, TOTAL_FUNCTION, "query", 8);
	struct totals totals;

	(void)state;
	(void)add_node(builder, inner, TOTAL_TASK, "child", 16);
	totals = finish(builder);
	check_task(&totals, "task", 15, 16);
	check_task(&totals, "function", 6, 24);
	check_task(&totals, "query", 8, 16);
	check_task(&totals, "child", 16, 0);
	assert_int_equal(totals.n_tasks, 4);
	assert_int_equal(task_of(&totals, "function")->kind, TOTAL_FUNCTION);
	totals_release(&totals);
}

static void a_recursive_function_is_one_row(void **state)
{
	struct totals_builder *builder = new_builder();
	uint32_t node = 0;
	struct totals totals;

	(void)state;
	for (int i = 0; i < 5000; i++)
		node = add_node(builder, node, TOTAL_FUNCTION, "f", 1);
	totals = finish(builder);
	assert_int_equal(totals.n_tasks, 1);
	check_task(&totals, "f", 5000, 0);
	assert_int_equal(totals.nodes[1].cumulative_ns, 5000);
	totals_release(&totals);
}

static void places_are_told_apart_by_name_file_line_and_kind(void **state)
{
	struct totals_builder *builder = new_builder();
	struct total_node key = {.kind = TOTAL_TASK, .name = "a", .file = "a.c", .line = 1};
	struct totals totals;
	uint32_t nodes[6];

	(void)state;
	nodes[0] = totals_builder_node(builder, 0, &key);
	nodes[1] = totals_builder_node(builder, 0, &key);
	key.line = 2;
	nodes[2] = totals_builder_node(builder, 0, &key);
	key.file = "b.c";
	nodes[3] = totals_builder_node(builder, 0, &key);
	key.kind = TOTAL_FUNCTION;
	nodes[4] = totals_builder_node(builder, 0, &key);
	key.name = "b";
	nodes[5] = totals_builder_node(builder, 0, &key);
	assert_int_equal(nodes[0], nodes[1]);
	for (size_t i = 1; i < 6; i++) {
		assert_int_equal(nodes[i], i);
		totals_builder_at(builder, nodes[i])->begun = 1;
		totals_builder_at(builder, nodes[i])->ended = 1;
	}
	totals = finish(builder);
	assert_int_equal(totals.n_tasks, 5);
	totals_release(&totals);
}

static void nodes_that_there_is_no_room_for_are_one(void **state)
{
	struct totals_builder *builder = new_builder();
	struct totals totals;
	char name[32];

	(void)state;
	for (int i = 0; i < BUILDER_NODES + 1000; i++) {
		(void)snprintf(name, sizeof(name), "task %d", i);
		(void)add_node(builder, 0, TOTAL_TASK, name, 1);
	}
	totals = finish(builder);
	assert_int_equal(totals.n_nodes, BUILDER_NODES);
	assert_int_equal(totals.lost_nodes, 1002);
	check_task(&totals, TOTALS_OTHER, 1002, 0);
	totals_release(&totals);
}

/* Whatever the programs before it have made. */
static void requests_have_a_row_however_many_names_and_tiers_there_are(void **state)
{
	enum { TIERS = BUILDER_NAMES + 1000 };
	struct totals_builder *builder = new_builder();
	struct totals totals;
	char name[32];

	(void)state;
	for (int i = 0; i < TIERS; i++) {
		(void)snprintf(name, sizeof(name), "tier %d", i);
		count(builder, name, "GET /mine", 1);
	}
	count(builder, TOTALS_REQUEST, "GET /yours", 7);
	totals = finish(builder);
	assert_int_equal(tier_of(&totals, TOTALS_REQUEST, TOTALS_TOTAL)->count, 1);
	assert_int_equal(tier_of(&totals, TOTALS_REQUEST, TOTALS_OTHER)->sum_ns, 7);
	assert_in_range(totals.lost_cells, BUILDER_NAMES - BUILDER_CELLS, TIERS);
	assert_in_range(totals.lost_names, TIERS - BUILDER_NAMES, TIERS);
	totals_release(&totals);
}

static void the_total_is_the_sum_of_all_identities_and_nothing_else(void **state)
{
	struct totals_builder *builder = new_builder();
	const struct total_tier *row;
	struct totals totals;

	(void)state;
	count(builder, "db", "GET", 100);
	count(builder, "db", "GET", 300);
	count(builder, "db", "PUT", 5000);
	count(builder, "db", TOTALS_OUTSIDE, 70000);
	count(builder, "cache", "PUT", 50);
	count(builder, TOTALS_REQUEST, "PUT", 9000);
	totals = finish(builder);
	row = tier_of(&totals, "db", TOTALS_TOTAL);
	assert_int_equal(row->count, 3);
	assert_int_equal(row->sum_ns, 5400);
	assert_int_equal(row->self_ns, 2700);
	assert_int_equal(row->min_ns, 100);
	assert_int_equal(row->max_ns, 5000);
	assert_int_equal(histogram_count(&row->durations), 3);
	assert_int_equal(tier_of(&totals, "db", TOTALS_OUTSIDE)->count, 1);
	assert_int_equal(totals.n_tiers, 2 + 2 + 4);
	assert_string_equal(totals.tiers[0].tier, TOTALS_REQUEST);
	assert_string_equal(totals.tiers[0].identity, TOTALS_TOTAL);
	assert_string_equal(totals.tiers[2].tier, "cache");
	assert_string_equal(totals.tiers[5].identity, "PUT");
	assert_string_equal(totals.tiers[6].identity, "GET");
	assert_string_equal(totals.tiers[7].identity, TOTALS_OUTSIDE);
	totals_release(&totals);
}

static void count_many(struct totals_builder *builder, unsigned from, unsigned end, uint64_t step)
{
	char name[32];

	for (unsigned i = from; i < end; i++) {
		(void)snprintf(name, sizeof(name), "GET /%u", i);
		count(builder, TOTALS_REQUEST, name, 1000 + i * step);
		count(builder, "db", name, 10);
	}
}

static void ten_thousand_identities_are_two_hundred_and_other(void **state)
{
	struct totals_builder *builder = new_builder();
	struct totals totals;
	uint64_t n = 0;
	uint64_t sum = 0;

	(void)state;
	count_many(builder, 0, MANY, 1);
	totals = finish(builder);
	assert_int_equal(tier_of(&totals, TOTALS_REQUEST, TOTALS_TOTAL)->count, MANY);
	assert_int_equal(tier_of(&totals, "db", TOTALS_TOTAL)->count, MANY);
	assert_int_equal(totals.n_tiers, 2 * (TOTALS_IDENTITIES + 2));
	for (size_t i = 1; i < totals.n_tiers / 2; i++) {
		n += totals.tiers[i].count;
		sum += totals.tiers[i].sum_ns;
	}
	assert_int_equal(n, MANY);
	assert_int_equal(sum, totals.tiers[0].sum_ns);
	assert_string_equal(totals.tiers[TOTALS_IDENTITIES + 1].identity, TOTALS_OTHER);
	/* The builder keeps some 8,000: of the others, the heaviest. */
	assert_int_equal(totals.tiers[1].count, 1);
	assert_true(totals.tiers[1].sum_ns > totals.tiers[2].sum_ns);
	assert_true(totals.lost_cells > 0);
	totals_release(&totals);
}

static struct totals_builder *copy_of(const struct totals_builder *from)
{
	struct totals_builder *builder = new_builder();

	assert_int_equal(totals_builder_merge(builder, from), 0);
	return builder;
}

static void an_interval_is_what_came_since(void **state)
{
	struct totals_builder *builder = new_builder();
	uint32_t node = add_node(builder, 0, TOTAL_TASK, "a", 100);
	struct totals_builder *copy;
	struct totals earlier;
	struct totals later;
	struct totals interval;
	const struct total_tier *row;

	(void)state;
	count(builder, "db", "GET", 1000000);
	count(builder, "db", "GET", 10);
	copy = copy_of(builder);
	earlier = finish(copy);
	earlier.time_ns = 5;
	(void)add_node(builder, 0, TOTAL_TASK, "a", 30);
	(void)add_node(builder, node, TOTAL_TASK, "b", 8);
	totals_builder_at(builder, node)->live = 4;
	count(builder, "db", "GET", 5000);
	count(builder, "db", "GET", 7000);
	count(builder, "db", "PUT", 50);
	later = finish(builder);
	later.time_ns = 9;
	assert_int_equal(totals_interval(&later, &earlier, &interval), 0);
	assert_int_equal(interval.since_ns, 5);
	assert_int_equal(interval.time_ns, 9);
	check_task(&interval, "a", 30, 8);
	assert_int_equal(task_of(&interval, "a")->calls, 1);
	assert_int_equal(task_of(&interval, "a")->live, 4);
	assert_int_equal(task_of(&interval, "a")->exec_max_ns, 60); /* its wall time */
	assert_int_equal(task_of(&interval, "a")->run_max_ns, 50);  /* one that lives may have */
	row = tier_of(&interval, "db", "GET");
	assert_int_equal(row->count, 2);
	assert_int_equal(row->sum_ns, 12000);
	assert_true(row->min_ns >= 4900 && row->min_ns <= 5000);
	assert_true(row->max_ns >= 7000 && row->max_ns <= 7200);
	assert_int_equal(tier_of(&interval, "db", "PUT")->min_ns, 50);
	totals_release(&interval);
	/* The snapshots are as they were, and nothing came between equal ones. */
	assert_int_equal(tier_of(&later, "db", "GET")->count, 4);
	assert_int_equal(totals_interval(&later, &later, &interval), 0);
	assert_int_equal(interval.n_tiers, 0);
	assert_int_equal(interval.n_tasks, 1); /* what lives */
	totals_release(&interval);
	totals_release(&earlier);
	totals_release(&later);
}

/* Identities that were among "other" and are no more, and the other way round. */
static void intervals_add_up_when_identities_change_places(void **state)
{
	struct totals_builder *builder = new_builder();
	struct totals earlier;
	struct totals later;
	struct totals interval;
	uint64_t n = 0;

	(void)state;
	count_many(builder, 0, 600, 1);
	earlier = finish(copy_of(builder));
	count_many(builder, 0, 300, 1000);
	later = finish(builder);
	assert_int_equal(totals_interval(&later, &earlier, &interval), 0);
	for (size_t i = 1; i < interval.n_tiers / 2; i++) {
		assert_true(strcmp(interval.tiers[i].identity, TOTALS_OTHER) == 0 ||
			    interval.tiers[i].count == 1);
		n += interval.tiers[i].count;
	}
	assert_int_equal(n, 300);
	assert_int_equal(tier_of(&interval, TOTALS_REQUEST, TOTALS_OTHER)->count, 100);
	assert_int_equal(interval.tiers[0].count, 300);
	totals_release(&interval);
	totals_release(&earlier);
	totals_release(&later);
}

/* The longest run of the second of two intervals, in which A task ran for RAN. */
static uint64_t longest_since(uint64_t ran, uint64_t live)
{
	struct totals_builder *builder = new_builder();
	uint32_t node = add_node(builder, 0, TOTAL_TASK, "a", 100);
	struct totals_builder *copy = copy_of(builder);
	struct totals earlier = finish(copy);
	struct totals later;
	struct totals interval;
	uint64_t longest;

	(void)add_node(builder, 0, TOTAL_TASK, "a", ran);
	totals_builder_at(builder, node)->live = live;
	later = finish(builder);
	assert_int_equal(totals_interval(&later, &earlier, &interval), 0);
	longest = task_of(&interval, "a")->run_max_ns;
	totals_release(&interval);
	totals_release(&earlier);
	totals_release(&later);
	return longest;
}

static void the_longest_run_of_an_interval_is_not_more_than_it_can_be(void **state)
{
	(void)state;
	assert_int_equal(longest_since(20, 0), 40); /* the wall time of what has ended */
	assert_int_equal(longest_since(20, 1), 50);
	assert_int_equal(longest_since(0, 1), 0);
	assert_int_equal(longest_since(130, 1), 65);
}

static struct totals snapshots[2];

static bool subtract_without_memory(unsigned n)
{
	struct totals interval;
	bool failed;
	int r;

	memory_fail_at(n);
	r = totals_interval(&snapshots[1], &snapshots[0], &interval);
	failed = memory_has_failed();
	memory_fail_at(0);
	if (r == 0)
		totals_release(&interval);
	else
		assert_int_equal(r, -ENOMEM);
	return failed;
}

static void memory_that_runs_out_is_told(void **state)
{
	struct totals_builder *builder = new_builder();

	(void)state;
	count_many(builder, 0, 30, 1);
	(void)add_node(builder, 0, TOTAL_TASK, "a", 30);
	snapshots[0] = finish(copy_of(builder));
	count_many(builder, 20, 40, 1);
	(void)add_node(builder, 1, TOTAL_FUNCTION, "b", 30);
	snapshots[1] = finish(builder);
	assert_true(memory_fail_each(subtract_without_memory) > 50);
	totals_release(&snapshots[0]);
	totals_release(&snapshots[1]);
}

static void nothing_is_a_snapshot_too(void **state)
{
	struct totals totals = finish(new_builder());

	(void)state;
	assert_int_equal(totals.n_tasks, 0);
	assert_int_equal(totals.n_tiers, 0);
	assert_int_equal(totals.n_nodes, 1);
	totals_release(&totals);
	totals_release(&totals);
	totals_builder_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_are_those_of_all_generations),
		cmocka_unit_test(a_place_inside_itself_has_its_children_once),
		cmocka_unit_test(tiers_and_functions_are_part_of_their_task),
		cmocka_unit_test(a_recursive_function_is_one_row),
		cmocka_unit_test(places_are_told_apart_by_name_file_line_and_kind),
		cmocka_unit_test(nodes_that_there_is_no_room_for_are_one),
		cmocka_unit_test(requests_have_a_row_however_many_names_and_tiers_there_are),
		cmocka_unit_test(the_total_is_the_sum_of_all_identities_and_nothing_else),
		cmocka_unit_test(ten_thousand_identities_are_two_hundred_and_other),
		cmocka_unit_test(an_interval_is_what_came_since),
		cmocka_unit_test(the_longest_run_of_an_interval_is_not_more_than_it_can_be),
		cmocka_unit_test(intervals_add_up_when_identities_change_places),
		cmocka_unit_test(memory_that_runs_out_is_told),
		cmocka_unit_test(nothing_is_a_snapshot_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
