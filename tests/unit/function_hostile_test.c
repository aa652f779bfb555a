/* function_hostile_test.c - tables that are lies: refused, or looked up in without harm */
#include "symbolize/function/function_table.h"

#include "symbolize/function/function_layout.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BASE UINT64_C(0x401000)

static struct function_chain chain; /* 12 KB: not for the stack of a test */

/* Two symbols, of which the second begins before its range, and two readable names. */
static struct function_table show(const struct function_table *plain)
{
	const struct function_symbol part = {"main.cold", "main [cold]", BASE};
	const struct function_symbol bounds = {.name = "", .start = BASE + 190};
	struct function_show show = {.table = {NULL, 0}};
	struct function_table table;

	assert_int_equal(function_table_find(plain, BASE, &chain), 0);
	function_show_begin(&show, plain);
	function_show_symbol(&show, BASE, &part);
	function_show_symbol(&show, BASE + 200, &bounds);
	function_show_readable(&show, chain.levels[0].name, "main()");
	assert_int_equal(function_show_finish(&show, &table), 0);
	function_show_release(&show);
	free((void *)plain->bytes);
	return table;
}

/* Three nodes, two ranges, rows of two files, and what is shown of them. */
static struct function_table make(void)
{
	struct function_builder *builder;
	struct function_table table;
	uint32_t file;

	assert_int_equal(function_builder_new(&builder), 0);
	file = function_builder_file(builder, "/s/main.c");
	assert_int_equal(function_builder_node(builder, 0, "main", FUNCTION_NO_FILE, 0, 0), 0);
	assert_int_equal(function_builder_node(builder, 0, "mid", file, 20, 1), 1);
	assert_int_equal(function_builder_node(builder, 1, "leaf", file, 30, 1), 2);
	assert_int_equal(function_builder_range(builder, 0, BASE, BASE + 100), 0);
	assert_int_equal(function_builder_range(builder, 0, BASE + 200, BASE + 220), 0);
	assert_int_equal(function_builder_range(builder, 1, BASE + 10, BASE + 50), 0);
	assert_int_equal(function_builder_range(builder, 2, BASE + 20, BASE + 30), 0);
	assert_int_equal(function_builder_row(builder, BASE, file, 1, 2), 0);
	assert_int_equal(function_builder_row(builder, BASE + 20,
					      function_builder_file(builder, "/s/leaf.h"), 7, 0),
			 0);
	assert_int_equal(function_builder_finish(builder, &table), 0);
	table = show(&table);
	assert_int_equal(function_table_check(&table), 0);
	function_builder_free(builder);
	return table;
}

static void release(struct function_table *table)
{
	free((void *)table->bytes);
}

static size_t len_of(const char *text)
{
	return text ? strlen(text) : 0;
}

/* Everything a lookup hands out is read to its end: the sanitizers see what is out of bounds. */
static size_t read_all(const struct function_table *table)
{
	size_t sum = 0;

	for (uint64_t addr = BASE - 2; addr < BASE + 230; addr += 3) {
		if (function_table_find(table, addr, &chain) < 0)
			continue;
		for (size_t i = 0; i < chain.n_levels; i++)
			sum += strlen(chain.levels[i].name) + strlen(chain.levels[i].file) +
			       len_of(chain.levels[i].readable);
		sum += len_of(chain.symbol.name) + len_of(chain.symbol.readable);
	}
	return sum;
}

/* Bytes of their own, so that a read behind them is seen. */
static bool survives(const uint8_t *bytes, size_t n)
{
	struct function_table copy = {malloc(n ? n : 1), n};
	bool good;

	assert_non_null(copy.bytes);
	memcpy((void *)copy.bytes, bytes, n);
	good = function_table_check(&copy) == 0;
	if (good)
		(void)read_all(&copy);
	release(&copy);
	return good;
}

/* Every 16 and 32 bits of a table, set to what would hurt most. */
static void hostile_tables_are_refused_or_harmless(void **state)
{
	static const uint32_t lies[] = {0,          1,          2,          3,          100,
					0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 0x20000000};
	struct function_table table;
	size_t refused = 0;

	(void)state;
	table = make();
	for (size_t at = 0; at + 4 <= table.n_bytes; at += 2) {
		for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
			uint8_t *bytes = (uint8_t *)table.bytes;
			uint8_t kept[4];

			memcpy(kept, bytes + at, 4);
			memcpy(bytes + at, &lies[i], i % 2 ? 4 : 2);
			refused += !survives(bytes, table.n_bytes);
			memcpy(bytes + at, kept, 4);
		}
	}
	assert_true(refused > 500); /* of 1,450: names and lines may be anything */
	assert_int_equal(function_table_check(&table), 0);
	release(&table);
}

static void cut_tables_are_refused(void **state)
{
	struct function_table table;
	struct function_table odd;

	(void)state;
	table = make();
	for (size_t n = 0; n < table.n_bytes; n++)
		assert_false(survives(table.bytes, n));
	odd = (struct function_table){table.bytes + 4, table.n_bytes - 4};
	assert_int_equal(function_table_check(&odd), -EBADMSG);
	odd = (struct function_table){NULL, 0};
	assert_int_equal(function_table_check(&odd), -EBADMSG);
	release(&table);
}

/* Sets a 32-bit word of a good table: it must be refused. */
static void refuses(const struct function_table *table, size_t at, uint32_t lie)
{
	uint8_t *bytes = malloc(table->n_bytes);
	struct function_table copy = {bytes, table->n_bytes};

	assert_non_null(bytes);
	memcpy(bytes, table->bytes, table->n_bytes);
	memcpy(bytes + at, &lie, sizeof(lie));
	if (function_table_check(&copy) != -EBADMSG)
		fail_msg("a table with %#x at %zu was not refused", lie, at);
	free(bytes);
}

static void every_rule_of_the_layout_is_checked(void **state)
{
	const struct layout_head *head;
	struct function_table table;
	size_t ranges = sizeof(*head);
	size_t segments;
	size_t nodes;
	size_t rows;
	size_t files;
	size_t symbols;
	size_t readable;

	(void)state;
	table = make();
	head = (const void *)table.bytes;
	segments = ranges + head->n_ranges * sizeof(struct layout_range);
	nodes = segments + head->n_segments * sizeof(struct layout_segment);
	rows = nodes + head->n_nodes * sizeof(struct layout_node);
	files = rows + head->n_rows * sizeof(struct layout_row);
	symbols = files + head->n_files * sizeof(uint32_t);
	readable = symbols + head->n_symbols * sizeof(struct layout_symbol);
	for (size_t at = 0; at < offsetof(struct layout_head, base); at += 4)
		refuses(&table, at, 0x7ffffff);
	refuses(&table, ranges, 1);      /* not at 0 */
	refuses(&table, ranges + 4, 0);  /* empty */
	refuses(&table, ranges + 8, 50); /* overlaps */
	refuses(&table, segments, 1);
	refuses(&table, segments + 8, 0);
	refuses(&table, segments + 4, head->n_nodes);
	refuses(&table, nodes, 1);
	refuses(&table, nodes + 4, head->n_string_bytes);
	refuses(&table, nodes + 12, head->n_files);
	refuses(&table, nodes + sizeof(struct layout_node), 1);
	refuses(&table, rows, 1);
	refuses(&table, rows + sizeof(struct layout_row), 0);
	refuses(&table, rows + 8, head->n_files);
	refuses(&table, files, head->n_string_bytes);
	refuses(&table, symbols, 1);
	refuses(&table, symbols + 8, head->n_string_bytes);
	refuses(&table, symbols + sizeof(struct layout_symbol), 0);
	refuses(&table, readable + 4, head->n_string_bytes);
	refuses(&table, readable + sizeof(struct layout_readable), 0);
	refuses(&table, readable + sizeof(struct layout_readable), head->n_string_bytes);
	/* never ends */
	refuses(&table, (size_t)layout_strings(head) + head->n_string_bytes - 4, 0x41414141);
	release(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostile_tables_are_refused_or_harmless),
		cmocka_unit_test(cut_tables_are_refused),
		cmocka_unit_test(every_rule_of_the_layout_is_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
