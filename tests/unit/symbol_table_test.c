/* symbol_table_test.c - which symbol an address is in */
#include "state_fixture.h"
#include "symbolize/elf/symbol_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void add(struct symbol_table *table, uint64_t addr, uint64_t size, uint64_t limit,
		uint32_t rank, const char *name)
{
	struct symbol_entry entry = {.addr = addr,
				     .size = size,
				     .limit = limit,
				     .rank = rank,
				     .name = name,
				     .name_len = strlen(name)};

	assert_int_equal(symbol_table_add(table, &entry), 0);
}

static const char *at(const struct symbol_table *table, uint64_t addr)
{
	const struct symbol *symbol = symbol_table_find(table, addr);

	return symbol ? symbol_table_name(table, symbol) : "";
}

static void a_size_is_kept_to(void **state)
{
	struct symbol_table *table = *state;

	add(table, 100, 10, 0, 0, "a");
	add(table, 120, 10, 0, 0, "b");
	symbol_table_finish(table);
	assert_string_equal(at(table, 99), "");
	assert_string_equal(at(table, 100), "a");
	assert_string_equal(at(table, 109), "a");
	assert_string_equal(at(table, 110), "");
	assert_string_equal(at(table, 129), "b");
}

static void without_a_size_it_ends_with_the_next_or_at_its_limit(void **state)
{
	struct symbol_table *table = *state;

	add(table, 100, 0, 1000, 0, "open");
	add(table, 120, 10, 0, 0, "sized");
	add(table, 140, 0, 150, 0, "last");
	symbol_table_finish(table);
	assert_string_equal(at(table, 119), "open");
	assert_string_equal(at(table, 129), "sized");
	assert_string_equal(at(table, 130), "");
	assert_string_equal(at(table, 149), "last");
	assert_string_equal(at(table, 150), "");
}

static void labels_inside_a_function_are_not_functions(void **state)
{
	struct symbol_table *table = *state;

	add(table, 100, 50, 0, 1, "function");
	add(table, 100, 0, 1000, 9, "its_label");
	add(table, 120, 0, 1000, 9, "inner_label");
	symbol_table_finish(table);
	assert_string_equal(at(table, 100), "function");
	assert_string_equal(at(table, 130), "function");
	assert_string_equal(at(table, 150), "");
}

static void of_aliases_the_best_wins_and_the_choice_is_stable(void **state)
{
	struct symbol_table *table = *state;

	add(table, 100, 10, 0, 1, "weak");
	add(table, 100, 10, 0, 2, "global_b");
	add(table, 100, 10, 0, 2, "global_a");
	add(table, 100, 20, 0, 0, "longer");
	symbol_table_finish(table);
	assert_string_equal(at(table, 105), "global_a");
	assert_string_equal(at(table, 115), "longer");
	/* Finished once more, nothing changes. */
	symbol_table_finish(table);
	assert_string_equal(at(table, 105), "global_a");
	assert_string_equal(at(table, 115), "longer");
}

static void the_innermost_of_nested_symbols_is_found(void **state)
{
	struct symbol_table *table = *state;

	add(table, 100, 100, 0, 0, "outer");
	add(table, 110, 10, 0, 0, "inner");
	add(table, 130, 5, 0, 0, "second");
	symbol_table_finish(table);
	assert_string_equal(at(table, 105), "outer");
	assert_string_equal(at(table, 115), "inner");
	assert_string_equal(at(table, 125), "outer");
	assert_string_equal(at(table, 199), "outer");
	assert_string_equal(at(table, 200), "");
}

static void nothing_wraps_around(void **state)
{
	struct symbol_table *table = *state;

	add(table, UINT64_MAX - 5, 100, 0, 0, "wraps");
	add(table, 100, UINT64_MAX - 50, 0, 0, "wraps_too");
	add(table, 100, 0, 50, 0, "ends_before_it_starts");
	add(table, 100, 10, 0, 0, "");
	symbol_table_finish(table);
	assert_int_equal(table->n_symbols, 0);
	assert_string_equal(at(table, 105), "");
}

STATE_FIXTURE(symbol_table, table, symbol_table_release(table))

int main(void)
{
	const struct CMUnitTest tests[] = {
		own_test(a_size_is_kept_to),
		own_test(without_a_size_it_ends_with_the_next_or_at_its_limit),
		own_test(labels_inside_a_function_are_not_functions),
		own_test(of_aliases_the_best_wins_and_the_choice_is_stable),
		own_test(the_innermost_of_nested_symbols_is_found),
		own_test(nothing_wraps_around),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
