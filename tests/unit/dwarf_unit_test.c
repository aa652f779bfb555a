/* dwarf_unit_test.c - unit headers of every kind, their root entries, abbreviations, and lies */
#include "symbolize/dwarf/die.h"
#include "symbolize/dwarf/unit.h"

#include "tests/unit/dwarf_bytes.h"

#include <errno.h>

/* Sections of one unit. */
struct made {
	struct bytes info;
	struct bytes abbrev;
	struct dwarf_source source;
	struct dwarf_unit unit;
	size_t begun;
	uint8_t offset_size;
};

static void begin(struct made *made, uint16_t version, uint8_t type, uint8_t offset_size)
{
	*made = (struct made){.offset_size = offset_size};
	made->begun = bytes_begin(&made->info, offset_size);
	put_number(&made->info, version, 2);
	if (version >= 5) {
		put_u8(&made->info, type);
		put_u8(&made->info, 8);
	}
	put_number(&made->info, 0, offset_size); /* abbreviations */
	if (version < 5)
		put_u8(&made->info, 8);
}

static int read_it(struct made *made)
{
	bytes_end(&made->info, made->begun, made->offset_size);
	bytes_into(&made->info, &made->source, DWARF_INFO);
	bytes_into(&made->abbrev, &made->source, DWARF_ABBREV);
	return unit_read(&made->source, 0, &made->unit);
}

static void abbrev(struct bytes *bytes, uint64_t code, uint64_t tag, uint8_t children)
{
	put_uleb(bytes, code);
	put_uleb(bytes, tag);
	put_u8(bytes, children);
}

static void attr(struct bytes *bytes, uint64_t name, uint64_t form)
{
	put_uleb(bytes, name);
	put_uleb(bytes, form);
}

static void attrs_end(struct bytes *bytes)
{
	attr(bytes, 0, 0);
}

/* A root with a name in place, low_pc, a length, and a line program. */
static void plain_root(struct made *made, uint64_t tag)
{
	abbrev(&made->abbrev, 1, tag, 1);
	attr(&made->abbrev, DW_AT_name, DW_FORM_string);
	attr(&made->abbrev, DW_AT_low_pc, DW_FORM_addr);
	attr(&made->abbrev, DW_AT_high_pc, DW_FORM_data4);
	attr(&made->abbrev, DW_AT_stmt_list, DW_FORM_sec_offset);
	attrs_end(&made->abbrev);
	put_u8(&made->abbrev, 0);
	put_uleb(&made->info, 1);
	put_string(&made->info, "a.c");
	put_number(&made->info, 0x1000, 8);
	put_number(&made->info, 0x20, 4);
	put_number(&made->info, 0x33, made->offset_size);
}

static void reads_units_of_every_version(void **state)
{
	(void)state;
	for (uint16_t version = 2; version <= 5; version++) {
		for (uint8_t size = 4; size <= 8; size += 4) {
			struct made made;

			begin(&made, version, UNIT_COMPILE, size);
			plain_root(&made, DW_TAG_compile_unit);
			assert_int_equal(read_it(&made), 0);
			assert_int_equal(made.unit.format.version, version);
			assert_int_equal(made.unit.format.offset_size, size);
			assert_int_equal(made.unit.end, made.info.n);
			assert_int_equal(made.unit.tag, DW_TAG_compile_unit);
			assert_string_equal(made.unit.name, "a.c");
			assert_int_equal(made.unit.low_pc, 0x1000);
			assert_int_equal(made.unit.high_pc, 0x1020);
			assert_true(made.unit.has_stmt_list);
			assert_int_equal(made.unit.stmt_list, 0x33);
			assert_int_equal(unit_next(&made.source, 0), made.info.n);
		}
	}
}

static void types_of_units_have_their_own_headers(void **state)
{
	struct made made;

	(void)state;
	begin(&made, 5, UNIT_SKELETON, 4);
	put_number(&made.info, 0x1122334455667788, 8);
	plain_root(&made, DW_TAG_skeleton_unit);
	assert_int_equal(read_it(&made), 0);
	assert_true(made.unit.has_dwo_id);
	assert_int_equal(made.unit.dwo_id, 0x1122334455667788);

	begin(&made, 5, UNIT_TYPE, 4);
	put_number(&made.info, 1, 8);
	put_number(&made.info, 30, 4);
	plain_root(&made, DW_TAG_type_unit);
	assert_int_equal(read_it(&made), 0);
	assert_int_equal(made.unit.type, UNIT_TYPE);
	assert_int_equal(made.unit.tag, DW_TAG_type_unit);
	assert_false(made.unit.has_dwo_id);

	begin(&made, 5, 0x77, 4);
	plain_root(&made, DW_TAG_compile_unit);
	assert_int_equal(read_it(&made), -EBADMSG);
}

static void bases_count_wherever_they_stand(void **state)
{
	struct bytes addr = {.n = 0};
	struct bytes offsets = {.n = 0};
	struct made made;

	(void)state;
	begin(&made, 5, UNIT_COMPILE, 4);
	abbrev(&made.abbrev, 1, DW_TAG_compile_unit, 0);
	attr(&made.abbrev, DW_AT_name, DW_FORM_strx1);
	attr(&made.abbrev, DW_AT_low_pc, DW_FORM_addrx);
	attr(&made.abbrev, DW_AT_str_offsets_base, DW_FORM_sec_offset);
	attr(&made.abbrev, DW_AT_addr_base, DW_FORM_sec_offset);
	attrs_end(&made.abbrev);
	put_uleb(&made.info, 1);
	put_u8(&made.info, 1);
	put_uleb(&made.info, 0);
	put_number(&made.info, 4, 4);
	put_number(&made.info, 16, 4);
	put_number(&offsets, 0, 8);
	put_number(&offsets, 3, 4);
	put_number(&addr, 0, 8);
	put_number(&addr, 0, 8);
	put_number(&addr, 0x4000, 8);
	bytes_into(&offsets, &made.source, DWARF_STR_OFFSETS);
	bytes_into(&addr, &made.source, DWARF_ADDR);
	made.source.of[DWARF_STR] = (struct dwarf_bytes){(const uint8_t *)"no\0yes", 7};
	assert_int_equal(read_it(&made), 0);
	assert_string_equal(made.unit.name, "yes");
	assert_int_equal(made.unit.low_pc, 0x4000);
}

static void split_units_of_dwarf_4_say_so_in_their_root(void **state)
{
	struct made made;
	struct dwarf_unit split = {.offset = 1};

	(void)state;
	begin(&made, 4, 0, 4);
	abbrev(&made.abbrev, 1, DW_TAG_compile_unit, 0);
	attr(&made.abbrev, DW_AT_GNU_dwo_name, DW_FORM_string);
	attr(&made.abbrev, DW_AT_GNU_dwo_id, DW_FORM_data8);
	attr(&made.abbrev, DW_AT_GNU_ranges_base, DW_FORM_sec_offset);
	attr(&made.abbrev, DW_AT_GNU_addr_base, DW_FORM_sec_offset);
	attrs_end(&made.abbrev);
	put_uleb(&made.info, 1);
	put_string(&made.info, "a.dwo");
	put_number(&made.info, 77, 8);
	put_number(&made.info, 0x10, 4);
	put_number(&made.info, 0x20, 4);
	assert_int_equal(read_it(&made), 0);
	assert_string_equal(made.unit.dwo_name, "a.dwo");
	assert_true(made.unit.has_dwo_id);
	assert_int_equal(made.unit.dwo_id, 77);
	unit_take_skeleton(&split, &made.unit);
	assert_int_equal(split.ranges_base, 0x10);
	assert_int_equal(split.addr_base, 0x20);
}

static void a_unit_cut_anywhere_is_refused(void **state)
{
	struct made made;

	(void)state;
	begin(&made, 5, UNIT_COMPILE, 4);
	plain_root(&made, DW_TAG_compile_unit);
	assert_int_equal(read_it(&made), 0);
	for (size_t n = 0; n < made.info.n; n++) {
		made.source.of[DWARF_INFO].len = n;
		assert_int_equal(unit_read(&made.source, 0, &made.unit), -EBADMSG);
	}
	made.source.of[DWARF_INFO].len = made.info.n;
	for (size_t n = 4; n < made.info.n; n++) {
		/* By its own length; one that ends behind its header has no root. */
		made.info.of[0] = (uint8_t)(n - 4);
		assert_int_equal(unit_read(&made.source, 0, &made.unit),
				 n == made.unit.root ? 0 : -EBADMSG);
	}
	bytes_end(&made.info, made.begun, 4);
	for (size_t n = 0; n < made.abbrev.n - 1; n++) {
		made.source.of[DWARF_ABBREV].len = n;
		assert_int_equal(unit_read(&made.source, 0, &made.unit), -EBADMSG);
	}
}

static void refuses_versions_and_sizes_that_it_does_not_know(void **state)
{
	static const uint16_t versions[] = {0, 1, 6, 0xffff};
	struct made made;

	(void)state;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		begin(&made, versions[i], UNIT_COMPILE, 4);
		plain_root(&made, DW_TAG_compile_unit);
		assert_int_equal(read_it(&made), -EBADMSG);
	}
	begin(&made, 5, UNIT_COMPILE, 4);
	plain_root(&made, DW_TAG_compile_unit);
	made.info.of[7] = 3; /* bytes of an address */
	assert_int_equal(read_it(&made), -EBADMSG);
}

static const struct abbrev_table *table_of(struct abbrev_cache *cache, struct made *made)
{
	const struct abbrev_table *table = NULL;

	assert_int_equal(read_it(made), 0);
	assert_int_equal(abbrevs_get(cache, &made->unit, &table), 0);
	return table;
}

static void codes_may_have_gaps(void **state)
{
	static const uint64_t codes[] = {1, 900, 3, UINT64_MAX, 70000};
	struct abbrev_cache cache = {.n_bytes = 0};
	const struct abbrev_table *table;
	struct made made;

	(void)state;
	begin(&made, 4, 0, 4);
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		abbrev(&made.abbrev, codes[i], DW_TAG_member + i, 0);
		attrs_end(&made.abbrev);
	}
	put_u8(&made.abbrev, 0);
	put_uleb(&made.info, 1);
	table = table_of(&cache, &made);
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		assert_non_null(abbrev_of(table, codes[i]));
		assert_int_equal(abbrev_of(table, codes[i])->code, codes[i]);
	}
	assert_null(abbrev_of(table, 0));
	assert_null(abbrev_of(table, 2));
	assert_ptr_equal(table_of(&cache, &made), table); /* read once */
	abbrevs_release(&cache);
}

static void entries_are_passed_over_whatever_is_in_them(void **state)
{
	struct abbrev_cache cache = {.n_bytes = 0};
	struct die_unit unit;
	struct cursor cursor;
	struct made made;

	(void)state;
	begin(&made, 5, UNIT_COMPILE, 4);
	abbrev(&made.abbrev, 1, DW_TAG_compile_unit, 1);
	attrs_end(&made.abbrev);
	abbrev(&made.abbrev, 2, DW_TAG_variable, 0); /* of fixed size */
	attr(&made.abbrev, DW_AT_type, DW_FORM_ref4);
	attr(&made.abbrev, DW_AT_external, DW_FORM_flag_present);
	attrs_end(&made.abbrev);
	abbrev(&made.abbrev, 3, DW_TAG_structure_type, 1); /* in steps, the sibling after one */
	attr(&made.abbrev, DW_AT_byte_size, DW_FORM_data2);
	attr(&made.abbrev, DW_AT_name, DW_FORM_string);
	attr(&made.abbrev, DW_AT_decl_line, DW_FORM_data1);
	attr(&made.abbrev, DW_AT_sibling, DW_FORM_ref2);
	attr(&made.abbrev, DW_AT_location, DW_FORM_exprloc);
	attrs_end(&made.abbrev);
	put_u8(&made.abbrev, 0);
	put_uleb(&made.info, 1);
	put_uleb(&made.info, 2);
	put_number(&made.info, 0, 4);
	put_uleb(&made.info, 3);
	put_number(&made.info, 0, 2);
	put_string(&made.info, "struct");
	put_u8(&made.info, 9);
	put_number(&made.info, made.info.n + 7, 2);
	put_uleb(&made.info, 2);
	put(&made.info, "ab", 2);
	put(&made.info, "\xff\xff", 2); /* children that cannot be read */
	put_uleb(&made.info, 2);
	put_number(&made.info, 0, 4);
	unit.abbrevs = table_of(&cache, &made);
	unit.unit = made.unit;

	cursor = die_cursor(&unit, made.unit.root);
	die_skip(&cursor, &unit, die_begin(&unit, &cursor));
	assert_false(die_jump(&cursor, &unit, die_begin(&unit, &cursor)));
	assert_false(die_jump(&cursor, &unit, die_begin(&unit, &cursor)));
	assert_int_equal(die_offset(&unit, &cursor), made.info.n - 5);
	assert_false(die_jump(&cursor, &unit, die_begin(&unit, &cursor)));
	assert_int_equal(cursor_left(&cursor), 0);
	assert_false(cursor.failed);
	assert_null(die_begin(&unit, &cursor));
	assert_true(cursor.failed);
	abbrevs_release(&cache);
}

static void siblings_lead_forwards_within_the_unit(void **state)
{
	static const uint32_t siblings[] = {0, 11, 12, 0x7fffffff, UINT32_MAX};

	(void)state;
	for (size_t i = 0; i < sizeof(siblings) / sizeof(siblings[0]); i++) {
		struct abbrev_cache cache = {.n_bytes = 0};
		struct die_unit unit;
		struct cursor cursor;
		struct made made;

		begin(&made, 4, 0, 4);
		abbrev(&made.abbrev, 1, DW_TAG_structure_type, 1);
		attr(&made.abbrev, DW_AT_sibling, DW_FORM_ref4);
		attrs_end(&made.abbrev);
		put_u8(&made.abbrev, 0);
		put_uleb(&made.info, 1);
		put_number(&made.info, siblings[i], 4);
		put_number(&made.info, 0, 4);
		unit.abbrevs = table_of(&cache, &made);
		unit.unit = made.unit;
		cursor = die_cursor(&unit, made.unit.root);
		assert_false(die_jump(&cursor, &unit, die_begin(&unit, &cursor)));
		assert_true(cursor.failed);
		abbrevs_release(&cache);
	}
}

static void abbreviations_that_lie_cost_the_unit(void **state)
{
	struct abbrev_cache cache = {.n_bytes = 0};
	const struct abbrev_table *table;
	struct made made;

	(void)state;
	begin(&made, 4, 0, 4);
	abbrev(&made.abbrev, 1, DW_TAG_compile_unit, 0);
	attrs_end(&made.abbrev);
	abbrev(&made.abbrev, 2, DW_TAG_variable, 0);
	attr(&made.abbrev, DW_AT_name, 0x7f); /* no such form */
	attrs_end(&made.abbrev);
	put_u8(&made.abbrev, 0);
	put_uleb(&made.info, 1);
	assert_int_equal(read_it(&made), 0);
	assert_int_equal(abbrevs_get(&cache, &made.unit, &table), -EBADMSG);
	made.source.of[DWARF_ABBREV].len = made.abbrev.n - 4; /* in the middle of one */
	assert_int_equal(abbrevs_get(&cache, &made.unit, &table), -EBADMSG);
	made.unit.abbrev_offset = UINT64_MAX;
	assert_int_equal(abbrevs_get(&cache, &made.unit, &table), -EBADMSG);
	abbrevs_release(&cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_units_of_every_version),
		cmocka_unit_test(types_of_units_have_their_own_headers),
		cmocka_unit_test(bases_count_wherever_they_stand),
		cmocka_unit_test(split_units_of_dwarf_4_say_so_in_their_root),
		cmocka_unit_test(a_unit_cut_anywhere_is_refused),
		cmocka_unit_test(refuses_versions_and_sizes_that_it_does_not_know),
		cmocka_unit_test(codes_may_have_gaps),
		cmocka_unit_test(entries_are_passed_over_whatever_is_in_them),
		cmocka_unit_test(siblings_lead_forwards_within_the_unit),
		cmocka_unit_test(abbreviations_that_lie_cost_the_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
