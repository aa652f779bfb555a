/* dwarf_form_test.c - every form of an attribute, read and passed over; and what has no end */
#include "symbolize/dwarf/unit.h"

#include "tests/unit/dwarf_bytes.h"

#include <dwarf.h>

#define TEXT(text) (text), sizeof(text) - 1

struct form_case {
	uint16_t form;
	const char *bytes;
	size_t n_bytes;
	enum form_class class;
	uint64_t number; /* of a block its length */
};

static const struct dwarf_format plain = {.version = 5, .address_size = 8, .offset_size = 4};
static const struct dwarf_format wide = {.version = 5, .address_size = 8, .offset_size = 8};
static const struct dwarf_format small = {.version = 2, .address_size = 4, .offset_size = 4};

static const struct form_case plain_cases[] = {
	{DW_FORM_addr, TEXT("\1\2\3\4\5\6\7\x08"), FORM_ADDRESS, 0x0807060504030201},
	{DW_FORM_block2, TEXT("\2\0ab"), FORM_BLOCK, 2},
	{DW_FORM_block4, TEXT("\3\0\0\0abc"), FORM_BLOCK, 3},
	{DW_FORM_block1, TEXT("\1a"), FORM_BLOCK, 1},
	{DW_FORM_block, TEXT("\2ab"), FORM_BLOCK, 2},
	{DW_FORM_exprloc, TEXT("\0"), FORM_BLOCK, 0},
	{DW_FORM_data1, TEXT("\xff"), FORM_CONSTANT, 0xff},
	{DW_FORM_data2, TEXT("\1\2"), FORM_CONSTANT, 0x201},
	{DW_FORM_data4, TEXT("\1\2\3\4"), FORM_CONSTANT, 0x4030201},
	{DW_FORM_data8, TEXT("\1\0\0\0\0\0\0\x80"), FORM_CONSTANT, 0x8000000000000001},
	{DW_FORM_data16, TEXT("0123456789abcdef"), FORM_BLOCK, 16},
	{DW_FORM_flag, TEXT("\1"), FORM_CONSTANT, 1},
	{DW_FORM_flag_present, TEXT(""), FORM_CONSTANT, 1},
	{DW_FORM_sdata, TEXT("\x7f"), FORM_CONSTANT, UINT64_MAX},
	{DW_FORM_sdata, TEXT("\x80\x7f"), FORM_CONSTANT, (uint64_t)-128},
	{DW_FORM_udata, TEXT("\xe5\x8e\x26"), FORM_CONSTANT, 624485},
	{DW_FORM_udata, TEXT("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\0"), FORM_CONSTANT, 0},
	{DW_FORM_implicit_const, TEXT(""), FORM_CONSTANT, (uint64_t)-7},
	{DW_FORM_strp, TEXT("\1\0\0\0"), FORM_STRP, 1},
	{DW_FORM_line_strp, TEXT("\2\0\0\0"), FORM_LINE_STRP, 2},
	{DW_FORM_strp_sup, TEXT("\3\0\0\0"), FORM_STRP_ALT, 3},
	{DW_FORM_GNU_strp_alt, TEXT("\3\0\0\0"), FORM_STRP_ALT, 3},
	{DW_FORM_strx, TEXT("\x81\1"), FORM_STRING_INDEX, 0x81},
	{DW_FORM_strx1, TEXT("\5"), FORM_STRING_INDEX, 5},
	{DW_FORM_strx2, TEXT("\5\1"), FORM_STRING_INDEX, 0x105},
	{DW_FORM_strx3, TEXT("\5\1\2"), FORM_STRING_INDEX, 0x20105},
	{DW_FORM_strx4, TEXT("\5\1\2\3"), FORM_STRING_INDEX, 0x3020105},
	{DW_FORM_GNU_str_index, TEXT("\6"), FORM_STRING_INDEX, 6},
	{DW_FORM_addrx, TEXT("\7"), FORM_ADDRESS_INDEX, 7},
	{DW_FORM_addrx1, TEXT("\7"), FORM_ADDRESS_INDEX, 7},
	{DW_FORM_addrx2, TEXT("\7\1"), FORM_ADDRESS_INDEX, 0x107},
	{DW_FORM_addrx3, TEXT("\7\1\1"), FORM_ADDRESS_INDEX, 0x10107},
	{DW_FORM_addrx4, TEXT("\7\0\0\1"), FORM_ADDRESS_INDEX, 0x1000007},
	{DW_FORM_GNU_addr_index, TEXT("\x08"), FORM_ADDRESS_INDEX, 8},
	{DW_FORM_ref1, TEXT("\x11"), FORM_REF_UNIT, 0x11},
	{DW_FORM_ref2, TEXT("\x11\1"), FORM_REF_UNIT, 0x111},
	{DW_FORM_ref4, TEXT("\x11\1\0\1"), FORM_REF_UNIT, 0x1000111},
	{DW_FORM_ref8, TEXT("\x11\1\0\0\0\0\0\1"), FORM_REF_UNIT, 0x100000000000111},
	{DW_FORM_ref_udata, TEXT("\x91\1"), FORM_REF_UNIT, 0x91},
	{DW_FORM_ref_addr, TEXT("\x12\0\0\0"), FORM_REF_INFO, 0x12},
	{DW_FORM_ref_sup4, TEXT("\x13\0\0\0"), FORM_REF_ALT, 0x13},
	{DW_FORM_ref_sup8, TEXT("\x13\0\0\0\0\0\0\0"), FORM_REF_ALT, 0x13},
	{DW_FORM_GNU_ref_alt, TEXT("\x13\0\0\0"), FORM_REF_ALT, 0x13},
	{DW_FORM_ref_sig8, TEXT("\1\0\0\0\0\0\0\0"), FORM_SIGNATURE, 1},
	{DW_FORM_sec_offset, TEXT("\x14\0\0\0"), FORM_OFFSET, 0x14},
	{DW_FORM_loclistx, TEXT("\x15"), FORM_LIST_INDEX, 0x15},
	{DW_FORM_rnglistx, TEXT("\x16"), FORM_LIST_INDEX, 0x16},
	{DW_FORM_indirect, TEXT("\x0b\x17"), FORM_CONSTANT, 0x17},
};

static const struct form_case wide_cases[] = {
	{DW_FORM_strp, TEXT("\1\0\0\0\1\0\0\0"), FORM_STRP, 0x100000001},
	{DW_FORM_ref_addr, TEXT("\1\0\0\0\1\0\0\0"), FORM_REF_INFO, 0x100000001},
	{DW_FORM_sec_offset, TEXT("\1\0\0\0\1\0\0\0"), FORM_OFFSET, 0x100000001},
	{DW_FORM_GNU_ref_alt, TEXT("\1\0\0\0\1\0\0\0"), FORM_REF_ALT, 0x100000001},
};

static const struct form_case small_cases[] = {
	{DW_FORM_addr, TEXT("\1\2\3\4"), FORM_ADDRESS, 0x4030201},
	{DW_FORM_ref_addr, TEXT("\1\2\3\4"), FORM_REF_INFO, 0x4030201}, /* an address in DWARF 2 */
};

static struct cursor over(const char *bytes, size_t n)
{
	return cursor_over(bytes, n, 0, n);
}

static void expect(const struct form_case *c, const struct dwarf_format *format)
{
	struct cursor cursor = over(c->bytes, c->n_bytes);
	struct form_value value;

	form_read(&cursor, format, c->form, -7, &value);
	assert_false(cursor.failed);
	assert_int_equal(cursor_left(&cursor), 0);
	assert_int_equal(value.class, c->class);
	assert_int_equal(value.number, c->number);

	cursor = over(c->bytes, c->n_bytes);
	form_skip(&cursor, format, c->form);
	assert_false(cursor.failed);
	assert_int_equal(cursor_left(&cursor), 0);
	if (form_size(format, c->form) >= 0)
		assert_int_equal(form_size(format, c->form), c->n_bytes);

	/* The same without its last byte is none. */
	if (c->n_bytes == 0)
		return;
	cursor = over(c->bytes, c->n_bytes - 1);
	form_read(&cursor, format, c->form, -7, &value);
	assert_true(cursor.failed);
	assert_int_equal(value.class, FORM_NONE);
	cursor = over(c->bytes, c->n_bytes - 1);
	form_skip(&cursor, format, c->form);
	assert_true(cursor.failed);
}

static void reads_and_passes_over_every_form(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(plain_cases) / sizeof(plain_cases[0]); i++)
		expect(&plain_cases[i], &plain);
}

static void sizes_follow_the_unit(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wide_cases) / sizeof(wide_cases[0]); i++)
		expect(&wide_cases[i], &wide);
	for (size_t i = 0; i < sizeof(small_cases) / sizeof(small_cases[0]); i++)
		expect(&small_cases[i], &small);
}

static void refuses_forms_that_there_are_not(void **state)
{
	static const uint16_t forms[] = {0, 0x02, 0x2d, 0x7f, 0x1f03, 0xffff};
	static const char bytes[16] = {1, 1, 1, 1};
	struct form_value value;

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct cursor cursor = over(bytes, sizeof(bytes));

		assert_int_equal(form_size(&plain, forms[i]), -2);
		form_skip(&cursor, &plain, forms[i]);
		assert_true(cursor.failed);
		cursor = over(bytes, sizeof(bytes));
		form_read(&cursor, &plain, forms[i], 0, &value);
		assert_true(cursor.failed);
	}
}

static void an_indirect_form_is_not_indirect_itself(void **state)
{
	struct cursor cursor = over(TEXT("\x16\x16\x16\x0b\1"));
	struct form_value value;

	(void)state;
	form_read(&cursor, &plain, DW_FORM_indirect, 0, &value);
	assert_true(cursor.failed);
	cursor = over(TEXT("\x16\x16\x16\x0b\1"));
	form_skip(&cursor, &plain, DW_FORM_indirect);
	assert_true(cursor.failed);
}

static void blocks_do_not_leave_their_bytes(void **state)
{
	static const struct form_case lies[] = {
		{DW_FORM_block1, TEXT("\xff"), FORM_NONE, 0},
		{DW_FORM_block4, TEXT("\xff\xff\xff\xff"), FORM_NONE, 0},
		{DW_FORM_exprloc, TEXT("\xff\xff\xff\xff\xff\xff\xff\xff\xff\1"), FORM_NONE, 0},
		{DW_FORM_udata,
		 TEXT("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80"
		      "\x80\0"),
		 FORM_NONE, 0},
	};
	struct form_value value;

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct cursor cursor = over(lies[i].bytes, lies[i].n_bytes);

		form_read(&cursor, &plain, lies[i].form, 0, &value);
		assert_true(cursor.failed);
		assert_int_equal(value.class, FORM_NONE);
		assert_int_equal(cursor_u8(&cursor), 0); /* and nothing can be read after it */
	}
}

/* A unit with strings "zero" at 1 of .debug_str, and offsets to it. */
static void strings_unit(struct dwarf_unit *unit, struct dwarf_source *source)
{
	*source = (struct dwarf_source){.split = false};
	source->of[DWARF_STR] = (struct dwarf_bytes){(const uint8_t *)"\0zero\0open", 10};
	source->of[DWARF_LINE_STR] = (struct dwarf_bytes){(const uint8_t *)"line", 5};
	source->of[DWARF_STR_OFFSETS] =
		(struct dwarf_bytes){(const uint8_t *)"head\1\0\0\0\x06\0\0\0\xff\0\0\0x", 17};
	*unit = (struct dwarf_unit){.source = source, .format = plain, .str_offsets_base = 4};
}

static const char *string_of(const struct dwarf_unit *unit, enum form_class class, uint64_t number)
{
	struct form_value value = {.class = class, .number = number};

	return form_string(unit, &value);
}

static void strings_end_within_their_section(void **state)
{
	struct dwarf_source source;
	struct dwarf_unit unit;

	(void)state;
	strings_unit(&unit, &source);
	assert_string_equal(string_of(&unit, FORM_STRP, 1), "zero");
	assert_string_equal(string_of(&unit, FORM_STRP, 5), "");
	assert_null(string_of(&unit, FORM_STRP, 6)); /* "open" */
	assert_null(string_of(&unit, FORM_STRP, 10));
	assert_null(string_of(&unit, FORM_STRP, UINT64_MAX));
	assert_string_equal(string_of(&unit, FORM_LINE_STRP, 2), "ne");
	assert_null(string_of(&unit, FORM_CONSTANT, 1));
}

static void indexed_strings_lie_within_their_offsets(void **state)
{
	struct dwarf_source source;
	struct dwarf_unit unit;

	(void)state;
	strings_unit(&unit, &source);
	assert_string_equal(string_of(&unit, FORM_STRING_INDEX, 0), "zero");
	assert_null(string_of(&unit, FORM_STRING_INDEX, 1)); /* has no end */
	assert_null(string_of(&unit, FORM_STRING_INDEX, 2)); /* beyond .debug_str */
	assert_null(string_of(&unit, FORM_STRING_INDEX, 3)); /* one byte is left */
	assert_null(string_of(&unit, FORM_STRING_INDEX, UINT64_MAX / 4 + 1));
	unit.str_offsets_base = UINT64_MAX - 3;
	assert_null(string_of(&unit, FORM_STRING_INDEX, 1));
}

static void strings_of_the_alternate_file_need_it(void **state)
{
	struct dwarf_source source;
	struct dwarf_source alt = {.split = false};
	struct dwarf_unit unit;

	(void)state;
	strings_unit(&unit, &source);
	assert_null(string_of(&unit, FORM_STRP_ALT, 0));
	alt.of[DWARF_STR] = (struct dwarf_bytes){(const uint8_t *)"alt", 4};
	source.alt = &alt;
	assert_string_equal(string_of(&unit, FORM_STRP_ALT, 0), "alt");
}

static void indexed_addresses_lie_within_their_section(void **state)
{
	struct dwarf_source source = {.split = false};
	struct dwarf_unit unit = {.source = &source, .format = plain, .addr_base = 8};
	struct form_value value = {.class = FORM_ADDRESS_INDEX};
	uint64_t address = 0;

	(void)state;
	assert_false(form_address(&unit, &value, &address)); /* there is none */
	source.of[DWARF_ADDR] =
		(struct dwarf_bytes){(const uint8_t *)"........\0\x10\0\0\0\0\0\0half", 20};
	assert_true(form_address(&unit, &value, &address));
	assert_int_equal(address, 0x1000);
	value.number = 1;
	assert_false(form_address(&unit, &value, &address));
	value.number = UINT64_MAX / 8 + 1;
	assert_false(form_address(&unit, &value, &address));
	value.class = FORM_CONSTANT;
	assert_false(form_address(&unit, &value, &address));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_and_passes_over_every_form),
		cmocka_unit_test(sizes_follow_the_unit),
		cmocka_unit_test(refuses_forms_that_there_are_not),
		cmocka_unit_test(an_indirect_form_is_not_indirect_itself),
		cmocka_unit_test(blocks_do_not_leave_their_bytes),
		cmocka_unit_test(strings_end_within_their_section),
		cmocka_unit_test(indexed_strings_lie_within_their_offsets),
		cmocka_unit_test(strings_of_the_alternate_file_need_it),
		cmocka_unit_test(indexed_addresses_lie_within_their_section),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
