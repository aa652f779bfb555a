/* dwarf_function_test.c - from an address to names and inlined calls, in units made by hand */
#include "symbolize/dwarf/dwarf.h"

#include "state_fixture.h"
#include "tests/unit/dwarf_bytes.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

/* The entries that units here are made of. */
enum code {
	UNIT = 1,
	NAMESPACE,
	NAMESPACE_NAMELESS,
	CLASS,
	CLASS_NAMELESS,
	DECLARED,
	FUNCTION, /* name, where, how long */
	SPECIFIED,
	ABSTRACT, /* name and linkage name */
	INLINED,
	BLOCK,
	VARIABLE,
	ABSTRACT_PLAIN,
	INSTANCE,
	CLASS_JUMPED,
	FUNCTION_JUMPED,
	INLINED_FAR,
	REFERRING,
};

struct made {
	struct bytes info;
	struct bytes abbrev;
	struct elf_head head;
	size_t begun;
	struct dwarf_file *file;
	struct dwarf_reader *reader;
	struct function_table table;
	struct function_chain chain;
};

static void abbrev(struct bytes *bytes, enum code code, unsigned tag, bool children,
		   const uint16_t *attrs)
{
	put_uleb(bytes, code);
	put_uleb(bytes, tag);
	put_u8(bytes, children);
	for (; *attrs; attrs++)
		put_uleb(bytes, *attrs);
	put(bytes, "\0\0", 2);
}

#define ATTRS(...) ((const uint16_t[]){__VA_ARGS__, 0})
#define NO_ATTRS   ((const uint16_t[]){0})
#define NAME       DW_AT_name, DW_FORM_string
#define CODE       DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4
#define CALL                                                                                       \
	DW_AT_call_file, DW_FORM_data1, DW_AT_call_line, DW_FORM_data2, DW_AT_call_column,         \
		DW_FORM_data1

static void put_abbrevs(struct bytes *bytes)
{
	abbrev(bytes, UNIT, DW_TAG_compile_unit, true, ATTRS(DW_AT_language, DW_FORM_data2, CODE));
	abbrev(bytes, NAMESPACE, DW_TAG_namespace, true, ATTRS(NAME));
	abbrev(bytes, NAMESPACE_NAMELESS, DW_TAG_namespace, true, NO_ATTRS);
	abbrev(bytes, CLASS, DW_TAG_structure_type, true, ATTRS(NAME));
	abbrev(bytes, CLASS_NAMELESS, DW_TAG_class_type, true, NO_ATTRS);
	abbrev(bytes, DECLARED, DW_TAG_subprogram, false, ATTRS(NAME));
	abbrev(bytes, FUNCTION, DW_TAG_subprogram, true, ATTRS(NAME, CODE));
	abbrev(bytes, SPECIFIED, DW_TAG_subprogram, true,
	       ATTRS(DW_AT_specification, DW_FORM_ref4, CODE));
	abbrev(bytes, ABSTRACT, DW_TAG_subprogram, false,
	       ATTRS(NAME, DW_AT_linkage_name, DW_FORM_string));
	abbrev(bytes, INLINED, DW_TAG_inlined_subroutine, true,
	       ATTRS(DW_AT_abstract_origin, DW_FORM_ref4, CODE, CALL));
	abbrev(bytes, BLOCK, DW_TAG_lexical_block, true, NO_ATTRS);
	abbrev(bytes, VARIABLE, DW_TAG_variable, false, ATTRS(DW_AT_location, DW_FORM_exprloc));
	abbrev(bytes, ABSTRACT_PLAIN, DW_TAG_subprogram, false, ATTRS(NAME));
	abbrev(bytes, INSTANCE, DW_TAG_subprogram, true,
	       ATTRS(DW_AT_abstract_origin, DW_FORM_ref4, CODE));
	abbrev(bytes, CLASS_JUMPED, DW_TAG_class_type, true,
	       ATTRS(NAME, DW_AT_sibling, DW_FORM_ref4));
	abbrev(bytes, FUNCTION_JUMPED, DW_TAG_subprogram, true,
	       ATTRS(NAME, CODE, DW_AT_sibling, DW_FORM_ref4));
	abbrev(bytes, INLINED_FAR, DW_TAG_inlined_subroutine, true,
	       ATTRS(DW_AT_abstract_origin, DW_FORM_ref_addr, CODE, CALL));
	abbrev(bytes, REFERRING, DW_TAG_subprogram, false,
	       ATTRS(DW_AT_abstract_origin, DW_FORM_ref4));
	put_u8(bytes, 0);
}

/* A unit whose code is [LO, LO + LEN). */
static void unit_begin(struct made *made, uint16_t language, uint64_t lo, uint32_t len)
{
	made->begun = bytes_begin(&made->info, 4);
	put_number(&made->info, 4, 2);
	put_number(&made->info, 0, 4);
	put_u8(&made->info, 8);
	put_u8(&made->info, UNIT);
	put_number(&made->info, language, 2);
	put_number(&made->info, lo, 8);
	put_number(&made->info, len, 4);
}

static void begin(struct made *made, uint16_t language)
{
	*made = (struct made){.head = bytes_head()};
	put_abbrevs(&made->abbrev);
	unit_begin(made, language, 0x1000, 0x8000);
}

static void end(struct made *made)
{
	put_u8(&made->info, 0);
}

static void unit_end(struct made *made)
{
	end(made);
	bytes_end(&made->info, made->begun, 4);
}

/* From the header of the unit at hand. */
static uint32_t here(const struct made *made)
{
	return (uint32_t)(made->info.n - (made->begun - 4));
}

static uint32_t named(struct made *made, enum code code, const char *name)
{
	uint32_t at = here(made);

	put_u8(&made->info, (uint8_t)code);
	put_string(&made->info, name);
	return at;
}

static uint32_t nameless(struct made *made, enum code code)
{
	put_u8(&made->info, (uint8_t)code);
	return here(made) - 1;
}

static void code_at(struct made *made, uint64_t lo, uint32_t len)
{
	put_number(&made->info, lo, 8);
	put_number(&made->info, len, 4);
}

static uint32_t function(struct made *made, const char *name, uint64_t lo, uint32_t len)
{
	uint32_t at = named(made, FUNCTION, name);

	code_at(made, lo, len);
	return at;
}

static void referring(struct made *made, enum code code, uint32_t to, uint64_t lo, uint32_t len)
{
	put_u8(&made->info, (uint8_t)code);
	put_number(&made->info, to, 4);
	code_at(made, lo, len);
}

static void inlined(struct made *made, enum code code, uint32_t of, uint64_t lo, uint32_t len)
{
	referring(made, code, of, lo, len);
	put_u8(&made->info, 1);
	put_number(&made->info, 321, 2);
	put_u8(&made->info, 7);
}

/* Room for DW_AT_sibling, and what fills it in. */
static size_t sibling_begin(struct made *made)
{
	put_number(&made->info, 0, 4);
	return made->info.n - 4;
}

static void sibling_end(struct made *made, size_t at)
{
	uint32_t to = here(made);

	memcpy(made->info.of + at, &to, sizeof(to));
}

static void open_made(struct made *made)
{
	struct dwarf_sections sections = {.elf = NULL};
	const struct dwarf_options options = {.head = &made->head};

	sections.of[DWARF_INFO] = (struct dwarf_bytes){made->info.of, made->info.n};
	sections.of[DWARF_ABBREV] = (struct dwarf_bytes){made->abbrev.of, made->abbrev.n};
	assert_int_equal(dwarf_file_new(&sections, &options, &made->file), 0);
	assert_int_equal(dwarf_reader_new(made->file, &made->reader), 0);
}

static void close_made(struct made *made)
{
	free((void *)made->table.bytes);
	dwarf_reader_free(made->reader);
	dwarf_file_free(made->file);
}

static int look_up(struct made *made, uint64_t addr)
{
	int r;

	free((void *)made->table.bytes);
	made->table.bytes = NULL;
	r = dwarf_read_function(made->reader, addr, &made->table);
	if (r < 0) {
		made->table.bytes = NULL;
		return r;
	}
	assert_int_equal(function_table_check(&made->table), 0);
	return function_table_find(&made->table, addr, &made->chain);
}

static void expect_name(struct made *made, uint64_t addr, const char *name)
{
	assert_int_equal(look_up(made, addr), 0);
	assert_string_equal(made->chain.levels[0].name, name);
}

static void names_are_qualified_by_what_they_are_in(void **state)
{
	struct made *made = *state;
	uint32_t method;

	begin(made, DW_LANG_C_plus_plus_14);
	(void)named(made, NAMESPACE, "ns");
	(void)nameless(made, NAMESPACE_NAMELESS);
	(void)named(made, CLASS, "S");
	method = named(made, DECLARED, "method");
	end(made); /* S */
	(void)function(made, "hidden", 0x1100, 0x10);
	end(made);
	end(made); /* anonymous */
	(void)function(made, "open", 0x1200, 0x10);
	end(made);
	end(made); /* ns */
	referring(made, SPECIFIED, method, 0x1300, 0x10);
	end(made);
	(void)function(made, "main", 0x1400, 0x10);
	end(made);
	unit_end(made);
	open_made(made);
	expect_name(made, 0x1100, "ns::(anonymous namespace)::hidden");
	expect_name(made, 0x120f, "ns::open");
	expect_name(made, 0x1300, "ns::(anonymous namespace)::S::method");
	expect_name(made, 0x1400, "main");
	assert_int_equal(look_up(made, 0x1410), -ENOENT);
	assert_int_equal(look_up(made, 0x10), -ENOENT);
}

static void linkage_names_come_first(void **state)
{
	struct made *made = *state;
	uint32_t of;

	begin(made, DW_LANG_C_plus_plus_14);
	(void)named(made, NAMESPACE, "ns");
	of = named(made, ABSTRACT, "f");
	put_string(&made->info, "_ZN2ns1fEv");
	end(made);
	referring(made, INSTANCE, of, 0x1100, 0x10);
	end(made);
	unit_end(made);
	open_made(made);
	expect_name(made, 0x1108, "_ZN2ns1fEv");
}

static void classes_without_names_are_lambdas_where_they_can_be_called(void **state)
{
	struct made *made = *state;
	uint32_t second;
	uint32_t other;

	begin(made, DW_LANG_C_plus_plus_14);
	(void)function(made, "outer", 0x1100, 0x10);
	(void)nameless(made, CLASS_NAMELESS);
	(void)named(made, DECLARED, "operator()");
	end(made);
	(void)nameless(made, CLASS_NAMELESS);
	second = named(made, DECLARED, "operator()<int>");
	end(made);
	(void)nameless(made, CLASS_NAMELESS);
	other = named(made, DECLARED, "get");
	end(made);
	end(made); /* outer */
	referring(made, SPECIFIED, second, 0x1200, 0x10);
	end(made);
	referring(made, SPECIFIED, other, 0x1300, 0x10);
	end(made);
	unit_end(made);
	open_made(made);
	expect_name(made, 0x1200, "outer::{lambda#2}::operator()<int>");
	expect_name(made, 0x1300, "outer::(anonymous class)::get");
}

static void names_in_c_are_plain(void **state)
{
	struct made *made = *state;

	begin(made, DW_LANG_C11);
	(void)function(made, "outer", 0x1100, 0x10);
	(void)function(made, "nested", 0x1200, 0x10);
	end(made);
	end(made);
	unit_end(made);
	open_made(made);
	expect_name(made, 0x1200, "nested");
	assert_int_equal(made->chain.n_levels, 1);
	expect_name(made, 0x1100, "outer");
}

/* outer [0x1100, 0x1180) has mid [0x1110, 0x1150) in a block, that has leaf [0x1120, 0x1130). */
static void put_calls(struct made *made)
{
	uint32_t mid = named(made, ABSTRACT_PLAIN, "mid");
	uint32_t leaf = named(made, ABSTRACT_PLAIN, "leaf");

	(void)function(made, "outer", 0x1100, 0x80);
	(void)nameless(made, VARIABLE);
	put(&made->info, "\3abc", 4);
	(void)nameless(made, BLOCK);
	inlined(made, INLINED, mid, 0x1110, 0x40);
	(void)named(made, CLASS, "Local");
	(void)function(made, "Local_method", 0x1800, 0x10);
	inlined(made, INLINED, leaf, 0x1808, 4);
	end(made);
	end(made);
	end(made); /* Local */
	inlined(made, INLINED, leaf, 0x1120, 0x10);
	end(made);
	end(made); /* mid */
	end(made); /* block */
	end(made); /* outer */
}

static void calls_are_told_from_the_inside_out(void **state)
{
	struct made *made = *state;

	begin(made, DW_LANG_C11);
	put_calls(made);
	unit_end(made);
	open_made(made);
	assert_int_equal(look_up(made, 0x1128), 0);
	assert_int_equal(made->chain.n_levels, 3);
	assert_string_equal(made->chain.levels[0].name, "leaf");
	assert_string_equal(made->chain.levels[1].name, "mid");
	assert_int_equal(made->chain.levels[1].line, 321);
	assert_int_equal(made->chain.levels[1].column, 7);
	assert_string_equal(made->chain.levels[2].name, "outer");
	assert_int_equal(look_up(made, 0x1130), 0);
	assert_int_equal(made->chain.n_levels, 2);
	assert_int_equal(look_up(made, 0x1150), 0);
	assert_int_equal(made->chain.n_levels, 1);
	/* The method's call is its own. */
	assert_int_equal(look_up(made, 0x1809), 0);
	assert_int_equal(made->chain.n_levels, 2);
	assert_string_equal(made->chain.levels[1].name, "Local_method");
}

static void what_was_jumped_over_is_walked_when_an_address_is_in_no_function(void **state)
{
	struct made *made = *state;
	size_t outer;
	size_t class;

	begin(made, DW_LANG_C_plus_plus_14);
	(void)named(made, FUNCTION_JUMPED, "outer");
	code_at(made, 0x1100, 0x10);
	outer = sibling_begin(made);
	(void)named(made, CLASS_JUMPED, "Local");
	class = sibling_begin(made);
	(void)function(made, "method", 0x1200, 0x10);
	end(made);
	end(made);
	sibling_end(made, class);
	end(made);
	sibling_end(made, outer);
	(void)function(made, "next", 0x1300, 0x10);
	end(made);
	unit_end(made);
	open_made(made);
	expect_name(made, 0x1300, "next");
	expect_name(made, 0x1200, "outer::Local::method");
	expect_name(made, 0x1100, "outer");
}

static void origins_may_lie_in_another_unit(void **state)
{
	struct made *made = *state;
	uint32_t of;
	uint32_t far;

	begin(made, DW_LANG_C_plus_plus_14);
	(void)function(made, "outer", 0x1100, 0x10);
	inlined(made, INLINED_FAR, 0, 0x1104, 4);
	of = (uint32_t)made->info.n - 20;
	end(made);
	end(made);
	unit_end(made);
	unit_begin(made, DW_LANG_C_plus_plus_14, 0, 0);
	(void)named(made, NAMESPACE, "far");
	far = (uint32_t)made->info.n;
	memcpy(made->info.of + of, &far, sizeof(far));
	(void)named(made, ABSTRACT_PLAIN, "away");
	end(made);
	unit_end(made);
	open_made(made);
	expect_name(made, 0x1105, "far::away");
	assert_int_equal(made->chain.n_levels, 2);
}

static void references_that_go_round_come_to_an_end(void **state)
{
	struct made *made = *state;
	uint32_t a;
	uint32_t b;

	begin(made, DW_LANG_C11);
	a = here(made);
	b = a + 5;
	(void)nameless(made, REFERRING);
	put_number(&made->info, b, 4);
	(void)nameless(made, REFERRING);
	put_number(&made->info, a, 4);
	referring(made, INSTANCE, a, 0x1100, 0x10);
	end(made);
	referring(made, INSTANCE, 0x7fffffff, 0x1200, 0x10); /* and that lead nowhere */
	end(made);
	referring(made, INSTANCE, b + 2, 0x1300, 0x10); /* or between entries */
	end(made);
	unit_end(made);
	open_made(made);
	expect_name(made, 0x1100, "");
	expect_name(made, 0x1200, "");
	assert_int_equal(look_up(made, 0x1300), 0);
}

static void functions_that_the_linker_threw_away_are_not_there(void **state)
{
	struct made *made = *state;

	begin(made, DW_LANG_C11);
	(void)function(made, "gone", 0, 0x7000);
	end(made);
	(void)function(made, "gone_too", UINT64_MAX, 0x7000);
	end(made);
	(void)function(made, "in_data", 0x200000, 0x10);
	end(made);
	(void)function(made, "here", 0x1100, 0x10);
	end(made);
	unit_end(made);
	open_made(made);
	expect_name(made, 0x1105, "here");
	assert_int_equal(look_up(made, 0x1200), -ENOENT);
	assert_int_equal(look_up(made, 0x200000), -ENOENT);
}

static void calls_deeper_than_a_table_tells_are_the_deepest_ones(void **state)
{
	struct made *made = *state;
	uint32_t of;
	int n;

	begin(made, DW_LANG_C11);
	of = named(made, ABSTRACT_PLAIN, "again");
	(void)function(made, "outer", 0x1100, 0x10);
	for (n = 0; n < 300; n++)
		inlined(made, INLINED, of, 0x1100, 0x10);
	for (int i = 0; i < n; i++)
		end(made);
	end(made);
	unit_end(made);
	open_made(made);
	assert_int_equal(look_up(made, 0x1105), 0);
	assert_int_equal(made->chain.n_levels, n + 1);
}

static void a_unit_that_lies_is_refused_and_the_others_are_not(void **state)
{
	struct made *made = *state;

	begin(made, DW_LANG_C11);
	(void)function(made, "deep", 0x1100, 0x10);
	for (int i = 0; i < 1500; i++)
		(void)nameless(made, BLOCK);
	for (int i = 0; i < 1500; i++)
		end(made);
	end(made);
	unit_end(made);
	unit_begin(made, DW_LANG_C11, 0xa000, 0x1000);
	(void)function(made, "unknown", 0xa100, 0x10);
	put_u8(&made->info, 99); /* no such abbreviation */
	end(made);
	unit_end(made);
	unit_begin(made, DW_LANG_C11, 0xc000, 0x1000);
	(void)function(made, "fine", 0xc100, 0x10);
	end(made);
	unit_end(made);
	open_made(made);
	assert_int_equal(look_up(made, 0x1105), -EBADMSG);
	assert_int_equal(look_up(made, 0xa105), -EBADMSG);
	expect_name(made, 0xc105, "fine");
}

/* Whatever byte is wrong: an answer or none, but a table that can be looked up in. */
static void no_byte_can_do_harm(void **state)
{
	struct made good;
	struct made made;

	(void)state;
	begin(&good, DW_LANG_C_plus_plus_14);
	put_calls(&good);
	unit_end(&good);
	for (size_t i = 0; i < good.info.n; i++) {
		for (unsigned k = 0; k < 4; k++) {
			made = good;
			made.info.of[i] = (uint8_t)(k ? good.info.of[i] ^ (0x55 << (k - 1)) : 0xff);
			open_made(&made);
			(void)look_up(&made, 0x1128);
			(void)look_up(&made, 0x1809);
			(void)look_up(&made, 0x7000);
			close_made(&made);
		}
	}
}

STATE_FIXTURE(made, made, close_made(made))

int main(void)
{
	const struct CMUnitTest tests[] = {
		own_test(names_are_qualified_by_what_they_are_in),
		own_test(linkage_names_come_first),
		own_test(classes_without_names_are_lambdas_where_they_can_be_called),
		own_test(names_in_c_are_plain),
		own_test(calls_are_told_from_the_inside_out),
		own_test(what_was_jumped_over_is_walked_when_an_address_is_in_no_function),
		own_test(origins_may_lie_in_another_unit),
		own_test(references_that_go_round_come_to_an_end),
		own_test(functions_that_the_linker_threw_away_are_not_there),
		own_test(calls_deeper_than_a_table_tells_are_the_deepest_ones),
		own_test(a_unit_that_lies_is_refused_and_the_others_are_not),
		cmocka_unit_test(no_byte_can_do_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
