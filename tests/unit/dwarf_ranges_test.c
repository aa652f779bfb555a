/* dwarf_ranges_test.c - lists of ranges by hand: every kind of entry, bases, and lies */
#include "symbolize/dwarf/ranges.h"

#include "tests/unit/dwarf_bytes.h"

#include <dwarf.h>
#include <errno.h>

enum { MAX_FOUND = 16 };

struct found {
	uint64_t lo[MAX_FOUND];
	uint64_t hi[MAX_FOUND];
	size_t n;
};

static int add(void *context, uint64_t lo, uint64_t hi)
{
	struct found *found = (struct found *)context;

	assert_true(found->n < MAX_FOUND);
	found->lo[found->n] = lo;
	found->hi[found->n++] = hi;
	return 0;
}

/* A unit of VERSION whose code begins at 0x2000, with .debug_addr of 0x5000, 0x6000, -1. */
struct unit_of {
	struct dwarf_source source;
	struct dwarf_unit unit;
	struct bytes list;
	struct bytes addr;
};

static void begin(struct unit_of *of, uint16_t version)
{
	*of = (struct unit_of){
		.unit = {.format = {.version = version, .address_size = 8, .offset_size = 4},
			 .low_pc = 0x2000,
			 .addr_base = 8}};
	of->unit.source = &of->source;
	put(&of->addr, "\x1c\0\0\0\5\0\x08", 8);
	put_number(&of->addr, 0x5000, 8);
	put_number(&of->addr, 0x6000, 8);
	put_number(&of->addr, UINT64_MAX, 8);
	bytes_into(&of->addr, &of->source, DWARF_ADDR);
}

static void pair(struct unit_of *of, uint64_t lo, uint64_t hi)
{
	put_number(&of->list, lo, of->unit.format.address_size);
	put_number(&of->list, hi, of->unit.format.address_size);
}

static int read_at(struct unit_of *of, enum form_class class, uint64_t number, struct found *found)
{
	struct form_value value = {.class = class, .number = number};

	*found = (struct found){.n = 0};
	bytes_into(&of->list, &of->source,
		   of->unit.format.version < 5 ? DWARF_RANGES : DWARF_RNGLISTS);
	return ranges_each(&of->unit, &value, add, found);
}

static void expect(const struct found *found, size_t i, uint64_t lo, uint64_t hi)
{
	assert_true(i < found->n);
	assert_int_equal(found->lo[i], lo);
	assert_int_equal(found->hi[i], hi);
}

static void pairs_are_relative_to_the_unit_or_to_a_base(void **state)
{
	struct unit_of of;
	struct found found;

	(void)state;
	begin(&of, 4);
	pair(&of, 0x10, 0x20);
	pair(&of, UINT64_MAX, 0x8000);
	pair(&of, 0, 0x10);
	pair(&of, 0x30, 0x30); /* empty */
	pair(&of, 0x50, 0x40); /* from right to left */
	pair(&of, UINT64_MAX, 0);
	pair(&of, 1, 1);              /* thrown away, GNU ld */
	pair(&of, 0, 0x10);           /* the end is 0, 0 */
	pair(&of, UINT64_MAX - 1, 1); /* thrown away, lld */
	pair(&of, 0x9000, 0x9001);
	pair(&of, 0, 0);
	pair(&of, 0x7000, 0x7001);
	assert_int_equal(read_at(&of, FORM_OFFSET, 0, &found), 0);
	assert_int_equal(found.n, 3);
	expect(&found, 0, 0x2010, 0x2020);
	expect(&found, 1, 0x8000, 0x8010);
	expect(&found, 2, 0x9000, 0x9001);
	/* From the middle on, with an offset that DWARF 2 has as a constant. */
	assert_int_equal(read_at(&of, FORM_CONSTANT, 9 * 16, &found), 0);
	expect(&found, 0, 0xb000, 0xb001);
}

static void a_split_unit_of_dwarf_4_adds_its_ranges_base(void **state)
{
	struct unit_of of;
	struct found found;

	(void)state;
	begin(&of, 4);
	of.unit.ranges_base = 32;
	pair(&of, 0x10, 0x20);
	pair(&of, 0, 0);
	pair(&of, 0x30, 0x40);
	pair(&of, 0, 0);
	assert_int_equal(read_at(&of, FORM_OFFSET, 0, &found), 0);
	expect(&found, 0, 0x2010, 0x2020); /* it is the skeleton's own */
	of.source.split = true;
	assert_int_equal(read_at(&of, FORM_OFFSET, 0, &found), 0);
	expect(&found, 0, 0x2030, 0x2040);
	assert_int_equal(read_at(&of, FORM_OFFSET, UINT64_MAX, &found), -EBADMSG);
}

static void addresses_of_four_bytes_have_their_own_highest(void **state)
{
	struct unit_of of;
	struct found found;

	(void)state;
	begin(&of, 3);
	of.unit.format.address_size = 4;
	pair(&of, UINT32_MAX, 0x8000);
	pair(&of, 0x10, 0x20);
	pair(&of, 0, 0);
	assert_int_equal(read_at(&of, FORM_OFFSET, 0, &found), 0);
	assert_int_equal(found.n, 1);
	expect(&found, 0, 0x8010, 0x8020);
}

static void every_entry_of_dwarf_5(struct bytes *list)
{
	put_u8(list, DW_RLE_offset_pair); /* from low_pc */
	put_uleb(list, 0x10);
	put_uleb(list, 0x300);
	put_u8(list, DW_RLE_base_addressx);
	put_uleb(list, 1);
	put_u8(list, DW_RLE_offset_pair);
	put_uleb(list, 0x10);
	put_uleb(list, 0x20);
	put_u8(list, DW_RLE_base_address);
	put_number(list, 0x7000, 8);
	put_u8(list, DW_RLE_offset_pair);
	put_uleb(list, 0);
	put_uleb(list, 1);
	put_u8(list, DW_RLE_startx_endx);
	put_uleb(list, 0);
	put_uleb(list, 1);
	put_u8(list, DW_RLE_startx_length);
	put_uleb(list, 1);
	put_uleb(list, 0x80);
	put_u8(list, DW_RLE_start_end);
	put_number(list, 0x9000, 8);
	put_number(list, 0x9010, 8);
	put_u8(list, DW_RLE_start_length);
	put_number(list, 0xa000, 8);
	put_uleb(list, 0x10);
	put_u8(list, DW_RLE_startx_length); /* thrown away */
	put_uleb(list, 2);
	put_uleb(list, 0x10);
	put_u8(list, DW_RLE_start_length); /* beyond the last address */
	put_number(list, 0xb000, 8);
	put_uleb(list, UINT64_MAX);
	put_u8(list, DW_RLE_base_addressx); /* what is relative to it, too */
	put_uleb(list, 2);
	put_u8(list, DW_RLE_offset_pair);
	put_uleb(list, 0x3000);
	put_uleb(list, 0x3010);
	put_u8(list, DW_RLE_end_of_list);
}

static void expect_every_entry(const struct found *found)
{
	assert_int_equal(found->n, 7);
	expect(found, 0, 0x2010, 0x2300);
	expect(found, 1, 0x6010, 0x6020);
	expect(found, 2, 0x7000, 0x7001);
	expect(found, 3, 0x5000, 0x6000);
	expect(found, 4, 0x6000, 0x6080);
	expect(found, 5, 0x9000, 0x9010);
	expect(found, 6, 0xa000, 0xa010);
}

static void every_kind_of_entry_of_dwarf_5_is_read(void **state)
{
	struct unit_of of;
	struct found found;

	(void)state;
	begin(&of, 5);
	every_entry_of_dwarf_5(&of.list);
	assert_int_equal(read_at(&of, FORM_OFFSET, 0, &found), 0);
	expect_every_entry(&found);
}

/* The head of .debug_rnglists with two offsets: of a list of one entry, and of all. */
static size_t with_offsets(struct unit_of *of, uint8_t size)
{
	size_t unit = bytes_begin(&of->list, size);
	size_t base;

	of->unit.format.offset_size = size;
	put(&of->list, "\5\0\x08", 4);
	put_number(&of->list, 2, 4);
	base = of->list.n;
	put_number(&of->list, 2U * size, size);
	put_number(&of->list, 2U * size + 4, size);
	put(&of->list, "\4\1\2", 4);
	every_entry_of_dwarf_5(&of->list);
	bytes_end(&of->list, unit, size);
	return base;
}

static void an_index_leads_through_the_offsets_at_the_base(void **state)
{
	struct unit_of of;
	struct found found;

	(void)state;
	for (uint8_t size = 4; size <= 8; size += 4) {
		size_t base;

		begin(&of, 5);
		base = with_offsets(&of, size);
		of.unit.rnglists_base = base;
		assert_int_equal(read_at(&of, FORM_LIST_INDEX, 1, &found), 0);
		expect_every_entry(&found);
		of.unit.rnglists_base = 0; /* a split unit's is behind the head */
		assert_int_equal(read_at(&of, FORM_LIST_INDEX, 0, &found), 0);
		assert_int_equal(found.n, 1);
		expect(&found, 0, 0x2001, 0x2002);
		assert_int_equal(read_at(&of, FORM_LIST_INDEX, 2, &found), -EBADMSG);
		assert_int_equal(read_at(&of, FORM_LIST_INDEX, UINT64_MAX, &found), -EBADMSG);
		of.unit.rnglists_base = UINT64_MAX;
		assert_int_equal(read_at(&of, FORM_LIST_INDEX, 0, &found), -EBADMSG);
		of.unit.rnglists_base = 1;
		assert_int_equal(read_at(&of, FORM_LIST_INDEX, 0, &found), -EBADMSG);
	}
}

static void lists_that_lie_are_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
	} lists[] = {
		{"", 0},
		{"\4\1\2", 3},   /* no end */
		{"\x08\0", 2},   /* no such kind */
		{"\3\7\1\0", 4}, /* an address that is not there */
		{"\4\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\2\0",
		 21},
	};
	struct unit_of of;
	struct found found;

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		begin(&of, 5);
		put(&of.list, lists[i].bytes, lists[i].n);
		assert_int_equal(read_at(&of, FORM_OFFSET, 0, &found), -EBADMSG);
	}
	assert_int_equal(read_at(&of, FORM_OFFSET, UINT64_MAX, &found), -EBADMSG);
	assert_int_equal(read_at(&of, FORM_ADDRESS, 0, &found), -EBADMSG);
	begin(&of, 4);
	pair(&of, 0x10, 0x20);
	assert_int_equal(read_at(&of, FORM_OFFSET, 0, &found), -EBADMSG);
	assert_int_equal(read_at(&of, FORM_LIST_INDEX, 0, &found), -EBADMSG);
}

static void entries_of_many_lists_are_counted_together(void **state)
{
	const struct form_value value = {.class = FORM_OFFSET, .number = 0};
	struct found found = {.n = 0};
	struct unit_of of;
	uint64_t left = 5;

	(void)state;
	begin(&of, 4);
	pair(&of, 0x10, 0x20);
	pair(&of, 0x30, 0x40);
	pair(&of, 0, 0);
	bytes_into(&of.list, &of.source, DWARF_RANGES);
	assert_int_equal(ranges_each_of(&of.unit, &value, &left, add, &found), 0);
	assert_int_equal(left, 3);
	assert_int_equal(ranges_each_of(&of.unit, &value, &left, add, &found), 0);
	assert_int_equal(ranges_each_of(&of.unit, &value, &left, add, &found), -EBADMSG);
	assert_int_equal(left, 0);
}

static int stop(void *context, uint64_t lo, uint64_t hi)
{
	(void)lo;
	(void)hi;
	++*(int *)context;
	return 7;
}

static void a_callback_may_end_a_list(void **state)
{
	const struct form_value value = {.class = FORM_OFFSET, .number = 0};
	struct unit_of of;
	int calls = 0;

	(void)state;
	begin(&of, 5);
	every_entry_of_dwarf_5(&of.list);
	bytes_into(&of.list, &of.source, DWARF_RNGLISTS);
	assert_int_equal(ranges_each(&of.unit, &value, stop, &calls), 7);
	assert_int_equal(calls, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_are_relative_to_the_unit_or_to_a_base),
		cmocka_unit_test(a_split_unit_of_dwarf_4_adds_its_ranges_base),
		cmocka_unit_test(addresses_of_four_bytes_have_their_own_highest),
		cmocka_unit_test(every_kind_of_entry_of_dwarf_5_is_read),
		cmocka_unit_test(an_index_leads_through_the_offsets_at_the_base),
		cmocka_unit_test(lists_that_lie_are_refused),
		cmocka_unit_test(entries_of_many_lists_are_counted_together),
		cmocka_unit_test(a_callback_may_end_a_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
