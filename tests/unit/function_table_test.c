/* function_table_test.c - which inlined call and line an address is in, whatever the bytes */
#include "symbolize/function/function_table.h"

#include "symbolize/function/function_layout.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BASE UINT64_C(0x401000)

static struct function_chain chain; /* 12 KB: not for the stack of a test */

/* The last two tables that finish() gave. */
static const uint8_t *kept[2];

static int begin_test(void **state)
{
	return function_builder_new((struct function_builder **)state);
}

static int end_test(void **state)
{
	function_builder_free(*state);
	for (size_t i = 0; i < 2; i++) {
		free((void *)(uintptr_t)kept[i]);
		kept[i] = NULL;
	}
	return 0;
}

#define table_test(test) cmocka_unit_test_setup_teardown(test, begin_test, end_test)

static void node(struct function_builder *to, uint32_t parent, const char *name, uint32_t line)
{
	assert_true(function_builder_node(to, parent, name, function_builder_file(to, "/s/call.c"),
					  line, line + 1) >= 0);
}

static void range(struct function_builder *to, uint32_t of, uint64_t lo, uint64_t hi)
{
	assert_int_equal(function_builder_range(to, of, BASE + lo, BASE + hi), 0);
}

static void row(struct function_builder *to, uint64_t addr, const char *file, uint32_t line)
{
	assert_int_equal(function_builder_row(to, BASE + addr, function_builder_file(to, file),
					      line, line * 2),
			 0);
}

/* Good until the next but one. */
static struct function_table finish(struct function_builder *from)
{
	struct function_table table;

	assert_int_equal(function_builder_finish(from, &table), 0);
	free((void *)(uintptr_t)kept[0]);
	kept[0] = kept[1];
	kept[1] = table.bytes;
	assert_int_equal(function_table_check(&table), 0);
	return table;
}

/* The names at an address, innermost first; "-": no code. */
static const char *names(const struct function_table *table, uint64_t addr)
{
	static char text[256];
	size_t used = 0;

	if (function_table_find(table, BASE + addr, &chain) == -ENOENT)
		return "-";
	for (size_t i = 0; i < chain.n_levels; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? " " : "",
					 chain.levels[i].name);
	return text;
}

/* main with an inlined call of an inlined call, and cold code elsewhere. */
static void fill(struct function_builder *to)
{
	node(to, 0, "main", 0);
	node(to, 0, "mid", 20);
	node(to, 1, "leaf", 30);
	range(to, 0, 0, 100);
	range(to, 0, 200, 220);
	range(to, 1, 10, 50);
	range(to, 1, 210, 215);
	range(to, 2, 20, 30);
	row(to, 0, "/s/main.c", 1);
	row(to, 20, "/s/leaf.h", 7);
	row(to, 30, "/s/main.c", 2);
	row(to, 200, "/s/main.c", 9);
}

static void finds_the_innermost_call(void **state)
{
	struct function_builder *made = *state;
	struct function_table table;

	fill(made);
	table = finish(made);
	assert_string_equal(names(&table, 0), "main");
	assert_string_equal(names(&table, 9), "main");
	assert_string_equal(names(&table, 10), "mid main");
	assert_string_equal(names(&table, 20), "leaf mid main");
	assert_string_equal(names(&table, 29), "leaf mid main");
	assert_string_equal(names(&table, 30), "mid main");
	assert_string_equal(names(&table, 50), "main");
	assert_string_equal(names(&table, 99), "main");
	assert_string_equal(names(&table, 100), "-");
	assert_string_equal(names(&table, 199), "-");
	assert_string_equal(names(&table, 200), "main");
	assert_string_equal(names(&table, 212), "mid main");
	assert_string_equal(names(&table, 220), "-");
	assert_string_equal(names(&table, (uint64_t)-1), "-");
	assert_string_equal(names(&table, UINT64_C(1) << 32), "-");
	assert_string_equal(names(&table, (UINT64_C(1) << 32) + 20), "-");
}

static void each_level_has_the_line_it_is_at(void **state)
{
	struct function_builder *made = *state;
	struct function_table table;

	fill(made);
	table = finish(made);
	assert_int_equal(function_table_find(&table, BASE + 25, &chain), 0);
	assert_int_equal(chain.n_levels, 3);
	assert_int_equal(chain.start, BASE);
	assert_string_equal(chain.levels[0].file, "/s/leaf.h");
	assert_int_equal(chain.levels[0].line, 7);
	assert_int_equal(chain.levels[0].column, 14);
	assert_string_equal(chain.levels[1].file, "/s/call.c");
	assert_int_equal(chain.levels[1].line, 30);
	assert_int_equal(chain.levels[2].line, 20);
	assert_int_equal(chain.levels[2].column, 21);
	assert_int_equal(function_table_find(&table, BASE + 219, &chain), 0);
	assert_int_equal(chain.start, BASE + 200);
	assert_int_equal(chain.levels[0].line, 9);
}

static void ranges_come_in_order_and_touching_ones_are_one(void **state)
{
	struct function_builder *made = *state;
	struct function_table table;
	uint64_t lo;
	uint64_t hi;

	node(made, 0, "f", 0);
	range(made, 0, 50, 60);
	range(made, 0, 10, 20);
	range(made, 0, 20, 30);
	range(made, 0, 25, 28);
	range(made, 0, 40, 40);
	table = finish(made);
	assert_true(function_table_range(&table, 0, &lo, &hi));
	assert_int_equal(lo, BASE + 10);
	assert_int_equal(hi, BASE + 30);
	assert_true(function_table_range(&table, 1, &lo, &hi));
	assert_int_equal(lo, BASE + 50);
	assert_int_equal(hi, BASE + 60);
	assert_false(function_table_range(&table, 2, &lo, &hi));
}

static void without_rows_lines_are_unknown(void **state)
{
	struct function_builder *made = *state;
	struct function_table table;

	node(made, 0, "f", 0);
	range(made, 0, 0, 10);
	table = finish(made);
	assert_int_equal(function_table_find(&table, BASE, &chain), 0);
	assert_string_equal(chain.levels[0].file, "");
	assert_int_equal(chain.levels[0].line, 0);
}

static void rows_are_cut_to_the_function(void **state)
{
	struct function_builder *made = *state;
	struct function_table table;

	node(made, 0, "f", 0);
	range(made, 0, 100, 110);
	range(made, 0, 300, 310);
	row(made, 400, "/s/next.c", 50);
	row(made, 90, "/s/a.c", 5); /* covers the beginning */
	row(made, 105, "/s/a.c", 6);
	row(made, 105, "/s/a.c", 7); /* the last one at an address */
	row(made, 305, "/s/a.c", 8); /* the row at 105 covers 300 */
	table = finish(made);
	assert_int_equal(function_table_find(&table, BASE + 100, &chain), 0);
	assert_int_equal(chain.levels[0].line, 5);
	assert_int_equal(function_table_find(&table, BASE + 109, &chain), 0);
	assert_int_equal(chain.levels[0].line, 7);
	assert_int_equal(function_table_find(&table, BASE + 304, &chain), 0);
	assert_int_equal(chain.levels[0].line, 7);
	assert_int_equal(function_table_find(&table, BASE + 305, &chain), 0);
	assert_int_equal(chain.levels[0].line, 8);
}

/* clang -g1 and LTO write these: the deeper wins, of two as deep the later. */
static void partial_overlaps_go_to_the_deeper_then_the_later(void **state)
{
	struct function_builder *made = *state;
	struct function_table table;

	node(made, 0, "f", 0);
	node(made, 0, "a", 1);
	node(made, 0, "b", 2);
	node(made, 1, "deep", 3);
	range(made, 0, 0, 100);
	range(made, 1, 10, 40);
	range(made, 2, 30, 60);
	range(made, 3, 35, 70); /* ends outside its parent */
	range(made, 3, 90, 120);
	table = finish(made);
	assert_string_equal(names(&table, 29), "a f");
	assert_string_equal(names(&table, 30), "b f");
	assert_string_equal(names(&table, 35), "deep a f");
	assert_string_equal(names(&table, 69), "deep a f");
	assert_string_equal(names(&table, 70), "f");
	assert_string_equal(names(&table, 99), "deep a f");
	assert_string_equal(names(&table, 100), "-");
}

struct wanted {
	uint64_t lo;
	uint64_t hi;
	uint32_t node;
	uint32_t depth;
};

/* Looks at every range for one address; 0 is the function, -1 no code. */
static int slowly(const struct wanted *ranges, size_t n, uint64_t addr)
{
	const struct wanted *best = NULL;
	bool own = false;

	for (size_t i = 0; i < n; i++) {
		const struct wanted *at = &ranges[i];

		if (addr < at->lo || addr >= at->hi)
			continue;
		own = own || at->node == 0;
		if (!best || at->depth > best->depth ||
		    (at->depth == best->depth && at->lo > best->lo))
			best = at;
	}
	return own ? (int)best->node : -1;
}

/* Beginnings differ, so that the contract alone decides which wins. */
static size_t random_ranges(struct function_builder *to, struct wanted *ranges)
{
	const uint32_t n_nodes = 1 + (uint32_t)rand() % 6;
	uint32_t depths[6] = {0};
	size_t n = 0;

	for (uint32_t i = 0; i < n_nodes; i++) {
		const uint32_t parent = i ? (uint32_t)rand() % i : 0;
		const char name[2] = {(char)('0' + i), '\0'};

		node(to, parent, name, i);
		depths[i] = i ? depths[parent] + 1 : 0;
	}

	for (uint64_t lo = 0; lo < 60; lo++) {
		struct wanted *made = &ranges[n];

		if (rand() % 2)
			continue;
		made->lo = lo;
		made->hi = lo + 1 + (uint64_t)(rand() % 20);
		made->node = n == 0 ? 0 : (uint32_t)rand() % n_nodes;
		made->depth = depths[made->node];
		n++;
	}
	for (size_t i = n; i-- > 0;) { /* in any order */
		size_t other = (size_t)rand() % (i + 1);
		struct wanted swapped = ranges[other];

		ranges[other] = ranges[i];
		ranges[i] = swapped;
		range(to, ranges[i].node, ranges[i].lo, ranges[i].hi);
	}
	return n;
}

static void any_overlap_is_as_a_slow_search_says(void **state)
{
	struct function_builder *made = *state;
	struct wanted ranges[60];

	srand(4);
	for (int round = 0; round < 500; round++) {
		struct function_table table;
		size_t n;

		function_builder_reset(made);
		n = random_ranges(made, ranges);
		table = finish(made);
		for (uint64_t addr = 0; addr < 90; addr++) {
			int found = -1;

			if (function_table_find(&table, BASE + addr, &chain) == 0)
				found = chain.levels[0].name[0] - '0';
			assert_int_equal(found, slowly(ranges, n, addr));
		}
	}
}

static void strings_are_kept_once(void **state)
{
	struct function_builder *made = *state;
	struct function_table one;
	struct function_table many;
	char path[32];

	fill(made);
	one = finish(made);
	for (int i = 0; i < 1000; i++) {
		fill(made); /* the same nodes again: nodes and ranges, but no names */
		assert_int_equal(function_builder_file(made, "/s/leaf.h"), 2);
	}
	many = finish(made);
	assert_int_equal(((const struct layout_head *)(const void *)one.bytes)->n_string_bytes,
			 ((const struct layout_head *)(const void *)many.bytes)->n_string_bytes);
	for (uint32_t i = 0; i < 1000; i++) {
		(void)snprintf(path, sizeof(path), "/many/%u", i);
		assert_int_equal(function_builder_file(made, path), 3 + i);
	}
	assert_int_equal(function_builder_file(made, "/many/500"), 503);
}

static void what_has_no_code_is_left_out(void **state)
{
	struct function_builder *made = *state;
	struct function_table table;
	const struct layout_head *head;

	node(made, 0, "f", 0);
	node(made, 0, "gone", 1); /* has no range */
	node(made, 1, "kept for its child", 2);
	node(made, 2, "child", 3);
	node(made, 2, "outside", 4);
	node(made, 0, "f", 5); /* covered by its child */
	node(made, 5, "child", 6);
	(void)function_builder_file(made, "/s/nobody's.c");
	range(made, 0, 0, 100);
	range(made, 3, 10, 20);
	range(made, 4, 200, 300);
	range(made, 5, 50, 60);
	range(made, 6, 50, 60);
	row(made, 0, "/s/a.c", 1);
	row(made, 200, "/s/b.c", 1);
	table = finish(made);
	head = (const void *)table.bytes;
	assert_int_equal(head->n_nodes, 6);
	assert_int_equal(head->n_files, 2); /* of the calls, and a.c */
	assert_string_equal(names(&table, 15), "child kept for its child gone f");
	assert_string_equal(names(&table, 55), "child f f");
	assert_int_equal(function_table_find(&table, BASE + 55, &chain), 0);
	assert_string_equal(chain.levels[0].file, "/s/a.c");
	assert_string_equal(chain.levels[1].file, "/s/call.c");
	assert_int_equal(head->n_string_bytes,
			 sizeof("f") + sizeof("gone") + sizeof("kept for its child") +
				 sizeof("child") + sizeof("/s/call.c") + sizeof("/s/a.c"));
}

static void a_builder_forgets_the_function_before(void **state)
{
	struct function_builder *made = *state;
	struct function_table first;
	struct function_table again;

	fill(made);
	first = finish(made);
	function_builder_reset(made);
	node(made, 0, "another, with a longer name", 1);
	range(made, 0, 1, 2);
	function_builder_reset(made);
	fill(made);
	again = finish(made);
	assert_int_equal(first.n_bytes, again.n_bytes);
	assert_memory_equal(first.bytes, again.bytes, first.n_bytes);
}

static void what_cannot_be_a_function_is_refused(void **state)
{
	struct function_builder *made = *state;
	struct function_table table;

	assert_int_equal(function_builder_finish(made, &table), -ENODATA);
	node(made, 0, "f", 0);
	assert_int_equal(function_builder_finish(made, &table), -ENODATA);
	node(made, 0, "inlined", 1);
	range(made, 1, 0, 10);
	assert_int_equal(function_builder_finish(made, &table), -ENODATA);
	range(made, 0, 0, 10);
	assert_int_equal(function_builder_range(made, 0, 0, 1), 0);
	assert_int_equal(function_builder_range(made, 0, UINT64_C(1) << 32, UINT64_MAX), 0);
	assert_int_equal(function_builder_finish(made, &table), -ERANGE);
	assert_int_equal(function_builder_range(made, 7, 0, 1), -EINVAL);
	assert_int_equal(function_builder_node(made, 7, "orphan", 0, 0, 0), -EINVAL);
	assert_int_equal(function_builder_named(made, 0, 99, 0, 0, 0), -EINVAL);
}

static void calls_in_each_other_have_a_limit(void **state)
{
	struct function_builder *made = *state;
	struct function_table table;

	for (uint32_t i = 0; i < FUNCTION_MAX_DEPTH; i++) {
		node(made, i ? i - 1 : 0, "recursive", i);
		range(made, i, i, 2000 - i);
	}
	assert_int_equal(function_builder_node(made, FUNCTION_MAX_DEPTH - 1, "more", 0, 0, 0),
			 -E2BIG);
	table = finish(made);
	assert_int_equal(function_table_find(&table, BASE + 1000, &chain), 0);
	assert_int_equal(chain.n_levels, FUNCTION_MAX_DEPTH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		table_test(finds_the_innermost_call),
		table_test(each_level_has_the_line_it_is_at),
		table_test(ranges_come_in_order_and_touching_ones_are_one),
		table_test(without_rows_lines_are_unknown),
		table_test(rows_are_cut_to_the_function),
		table_test(partial_overlaps_go_to_the_deeper_then_the_later),
		table_test(any_overlap_is_as_a_slow_search_says),
		table_test(strings_are_kept_once),
		table_test(what_has_no_code_is_left_out),
		table_test(a_builder_forgets_the_function_before),
		table_test(what_cannot_be_a_function_is_refused),
		table_test(calls_in_each_other_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
