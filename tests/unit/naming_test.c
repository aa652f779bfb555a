/* naming_test.c - which name is shown, from symbol tables and DWARF or from what was kept of them
 */
#include "symbolize/naming.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BASE UINT64_C(0x401000)

/* A module whose symbol tables were read, and the code that names from them. */
struct stage {
	struct module *module;
	struct naming naming;
	struct names names;
	struct function_chain chain;
};

static int set_up(void **state)
{
	struct stage *stage = calloc(1, sizeof(*stage));

	assert_non_null(stage);
	stage->module = module_new(MODULE_ELF, "/lib/libodd+.so");
	assert_non_null(stage->module);
	atomic_store(&stage->module->elf.read, true);
	*state = stage;
	return 0;
}

static int tear_down(void **state)
{
	struct stage *stage = *state;

	naming_release(&stage->naming);
	names_release(&stage->names);
	module_free(stage->module);
	free(stage);
	return 0;
}

static void add_symbol(struct stage *stage, uint64_t lo, uint64_t hi, const char *name)
{
	const struct symbol_entry entry = {
		.addr = BASE + lo, .size = hi - lo, .name = name, .name_len = strlen(name)};

	assert_int_equal(symbol_table_add(&stage->module->elf.symbols, &entry), 0);
	symbol_table_finish(&stage->module->elf.symbols);
}

static void set_fdes(struct stage *stage, const struct fde *fdes, size_t n)
{
	struct fde *copy = calloc(n, sizeof(*copy));

	assert_non_null(copy);
	memcpy(copy, fdes, n * sizeof(*copy));
	stage->module->elf.fdes = (struct fde_table){.fdes = copy, .n_fdes = n};
}

/* A function at [0, 0x100) with one call inlined at [0x10, 0x20), and a cold part. */
static struct function_table make(const char *name)
{
	struct function_builder *builder;
	struct function_table table;

	assert_int_equal(function_builder_new(&builder), 0);
	assert_int_equal(function_builder_node(builder, 0, name, FUNCTION_NO_FILE, 0, 0), 0);
	assert_int_equal(function_builder_node(builder, 0, "_ZN1a4leafEv", FUNCTION_NO_FILE, 0, 0),
			 1);
	assert_int_equal(function_builder_range(builder, 0, BASE, BASE + 0x100), 0);
	assert_int_equal(function_builder_range(builder, 0, BASE + 0x800, BASE + 0x810), 0);
	assert_int_equal(function_builder_range(builder, 1, BASE + 0x10, BASE + 0x20), 0);
	assert_int_equal(function_builder_finish(builder, &table), 0);
	function_builder_free(builder);
	return table;
}

/* The table as it is kept once ASKED was looked up. */
static struct function_table keep(struct stage *stage, struct function_table plain, uint64_t asked)
{
	struct function_table kept;

	naming_begin(&stage->naming, stage->module, &plain);
	naming_request(&stage->naming, BASE + asked);
	assert_int_equal(naming_finish(&stage->naming, &kept), 0);
	assert_int_equal(function_table_check(&kept), 0);
	free((void *)plain.bytes);
	return kept;
}

/* What is shown for an address, from the table alone: symbol tables may be gone. */
static struct address_entry *entry_at(struct stage *stage, const struct function_table *table,
				      uint64_t addr)
{
	struct address_entry *entry;
	bool read = atomic_exchange(&stage->module->elf.read, false);

	assert_int_equal(function_table_find(table, BASE + addr, &stage->chain), 0);
	entry = naming_entry(&stage->names, stage->module, BASE + addr, &stage->chain);
	assert_non_null(entry);
	atomic_store(&stage->module->elf.read, read);
	return entry;
}

/* NAME and where it begins; NULL: none is known. */
static void shows(struct stage *stage, const struct function_table *table, uint64_t addr,
		  const char *name, uint64_t start)
{
	struct address_entry *entry = entry_at(stage, table, addr);

	if (!name) {
		assert_null(entry->function.symbol);
		assert_false(entry->named);
	} else {
		assert_string_equal(entry->function.symbol, name);
		assert_int_equal(entry->start, BASE + start);
		assert_int_equal(entry->named, name[0] != '[');
	}
	free(entry);
}

static void a_part_is_shown_as_its_symbol_has_it(void **state)
{
	struct stage *stage = *state;
	struct function_table table;

	add_symbol(stage, 0, 0x100, "_ZN1a3runEv");
	add_symbol(stage, 0x800, 0x810, "_ZN1a3runEv.cold");
	table = keep(stage, make("_ZN1a3runEv"), 0x805);
	shows(stage, &table, 0x30, "a::run", 0);
	shows(stage, &table, 0x805, "a::run.cold", 0x800);
	free((void *)table.bytes);
}

static void another_functions_symbol_is_not_shown(void **state)
{
	struct stage *stage = *state;
	struct function_table table;

	add_symbol(stage, 0, 0x100, "_ZN1b6mergedEv");
	add_symbol(stage, 0x7f0, 0x810, "_ZN1a3runEv.cold"); /* begins elsewhere */
	table = keep(stage, make("_ZN1a3runEv"), 0x30);
	shows(stage, &table, 0x30, "a::run", 0);
	shows(stage, &table, 0x805, "a::run", 0x800);
	free((void *)table.bytes);
}

static void code_without_a_name_has_that_of_each_symbol(void **state)
{
	static const struct fde fdes[] = {{BASE + 0x50, BASE + 0x60}};
	struct stage *stage = *state;
	struct function_table table;

	add_symbol(stage, 0x20, 0x40, "copy");
	add_symbol(stage, 0x28, 0x30, "copy_tail");
	set_fdes(stage, fdes, 1);
	table = keep(stage, make(""), 0x25);
	shows(stage, &table, 0x05, NULL, 0);
	shows(stage, &table, 0x20, "copy", 0x20);
	shows(stage, &table, 0x28, "copy_tail", 0x28);
	shows(stage, &table, 0x3f, "copy", 0x20);
	shows(stage, &table, 0x40, NULL, 0);
	shows(stage, &table, 0x5f, "[libodd_.so@0x401050]", 0x50);
	shows(stage, &table, 0x60, NULL, 0);
	shows(stage, &table, 0x80f, NULL, 0);
	free((void *)table.bytes);
}

static void names_are_kept_readable_where_they_were_asked_for(void **state)
{
	struct stage *stage = *state;
	struct function_table table = keep(stage, make("_ZN1a3runEv"), 0x15);
	struct address_entry *entry = entry_at(stage, &table, 0x15);

	assert_string_equal(stage->chain.levels[0].readable, "a::leaf");
	assert_string_equal(stage->chain.levels[1].readable, "a::run");
	assert_int_equal(entry->n_inlined, 1);
	assert_string_equal(entry->inlined[0].symbol, "a::leaf");
	free(entry);
	free((void *)table.bytes);

	table = keep(stage, make("_ZN1a3runEv"), 0x30);
	entry = entry_at(stage, &table, 0x15);
	assert_null(stage->chain.levels[0].readable);
	assert_string_equal(entry->inlined[0].symbol, "a::leaf");
	free(entry);
	free((void *)table.bytes);
}

static void full_names_are_made_of_what_is_mangled(void **state)
{
	struct stage *stage = *state;
	struct function_table table = keep(stage, make("_ZN1a3runEv"), 0x30);

	stage->names.full = true;
	shows(stage, &table, 0x30, "a::run()", 0);
	free((void *)table.bytes);
}

/* Without a table, symbols have to do, once they were read. */
static void symbols_have_to_do(void **state)
{
	struct stage *stage = *state;
	struct address_entry *entry;

	add_symbol(stage, 0x20, 0x40, "copy");
	entry = naming_entry(&stage->names, stage->module, BASE + 0x25, NULL);
	assert_string_equal(entry->function.symbol, "copy");
	assert_int_equal(entry->start, BASE + 0x20);
	free(entry);
	atomic_store(&stage->module->elf.read, false);
	entry = naming_entry(&stage->names, stage->module, BASE + 0x25, NULL);
	assert_null(entry->function.symbol);
	free(entry);
}

/* What does not fit is without a name: never under the last one that did. */
static void too_many_symbols_end_in_none(void **state)
{
	enum { N = 20000 };
	struct stage *stage = *state;
	struct function_builder *builder;
	struct function_table table;

	for (uint64_t i = 0; i < N; i++) {
		const struct symbol_entry entry = {
			.addr = BASE + i * 4, .size = 4, .name = "f", .name_len = 1};

		assert_int_equal(symbol_table_add(&stage->module->elf.symbols, &entry), 0);
	}
	symbol_table_finish(&stage->module->elf.symbols);
	assert_int_equal(function_builder_new(&builder), 0);
	assert_int_equal(function_builder_node(builder, 0, "", FUNCTION_NO_FILE, 0, 0), 0);
	assert_int_equal(function_builder_range(builder, 0, BASE, BASE + N * 4), 0);
	assert_int_equal(function_builder_finish(builder, &table), 0);
	function_builder_free(builder);
	table = keep(stage, table, 0);
	shows(stage, &table, 400, "f", 400);
	shows(stage, &table, N * 4 - 1, NULL, 0);
	free((void *)table.bytes);
}

#define on_a_stage(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_stage(a_part_is_shown_as_its_symbol_has_it),
		on_a_stage(another_functions_symbol_is_not_shown),
		on_a_stage(code_without_a_name_has_that_of_each_symbol),
		on_a_stage(names_are_kept_readable_where_they_were_asked_for),
		on_a_stage(full_names_are_made_of_what_is_mangled),
		on_a_stage(symbols_have_to_do),
		on_a_stage(too_many_symbols_end_in_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
