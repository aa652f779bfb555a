/* dwarf_directory_test.c - units by address: as listed, as they say themselves, by their lines */
#include "symbolize/dwarf/directory.h"

#include "state_fixture.h"
#include "tests/unit/dwarf_bytes.h"

#include <dwarf.h>
#include <pthread.h>

/* Abbreviations of root entries. */
enum { BY_BOUNDS = 1, BY_RANGES, BY_LINES, BY_NOTHING, PARTIAL };

struct file {
	struct dwarf_source source;
	struct elf_head head;
	struct bytes info, abbrev, aranges, ranges, line;
	struct directory *directory;
};

static void put_abbrev(struct file *file, uint8_t code, uint8_t tag, const char *attrs, size_t n)
{
	put_u8(&file->abbrev, code);
	put_u8(&file->abbrev, tag);
	put_u8(&file->abbrev, 0);
	put(&file->abbrev, attrs, n);
	put(&file->abbrev, "\0", 2);
}

static void begin(struct file *file)
{
	*file = (struct file){.head = bytes_head()};
	put_abbrev(file, BY_BOUNDS, DW_TAG_compile_unit, "\x11\1\x12\7", 4); /* addr, data8 */
	put_abbrev(file, BY_RANGES, DW_TAG_compile_unit, "\x55\x17", 2);     /* sec_offset */
	put_abbrev(file, BY_LINES, DW_TAG_compile_unit, "\x10\x17", 2);
	put_abbrev(file, BY_NOTHING, DW_TAG_compile_unit, "", 0);
	put_abbrev(file, PARTIAL, DW_TAG_partial_unit, "\x11\1\x12\7", 4);
	put_u8(&file->abbrev, 0);
}

/* A unit of DWARF 4 whose root has A and B: its offset. */
static uint64_t put_unit(struct file *file, uint8_t abbrev, uint64_t a, uint64_t b)
{
	uint64_t offset = file->info.n;
	size_t begun = bytes_begin(&file->info, 4);

	put(&file->info, "\4\0\0\0\0\0\x08", 7);
	put_u8(&file->info, abbrev);
	if (abbrev == BY_BOUNDS || abbrev == PARTIAL) {
		put_number(&file->info, a, 8);
		put_number(&file->info, b, 8);
	} else if (abbrev != BY_NOTHING) {
		put_number(&file->info, a, 4);
	}
	bytes_end(&file->info, begun, 4);
	return offset;
}

/* A set of .debug_aranges of one unit with one range. */
static void put_arange(struct file *file, uint64_t unit, uint64_t lo, uint64_t len)
{
	size_t begun = bytes_begin(&file->aranges, 4);

	put_number(&file->aranges, 2, 2);
	put_number(&file->aranges, unit, 4);
	put(&file->aranges, "\x08\0\0\0\0", 6);
	put_number(&file->aranges, lo, 8);
	put_number(&file->aranges, len, 8);
	put_number(&file->aranges, 0, 8);
	put_number(&file->aranges, 0, 8);
	bytes_end(&file->aranges, begun, 4);
}

/* A line program of one sequence, [LO, LO + LEN). */
static void put_lines(struct file *file, uint64_t lo, uint8_t len)
{
	size_t begun = bytes_begin(&file->line, 4);
	size_t header;

	put_number(&file->line, 2, 2);
	header = bytes_begin(&file->line, 4);
	put(&file->line, "\1\1\xfb\x0e\x04\0\1\1", 8);
	put(&file->line, "\0\0", 2);
	bytes_end(&file->line, header, 4);
	put(&file->line, "\0\x09\2", 3);
	put_number(&file->line, lo, 8);
	put(&file->line, "\1\2", 2); /* copy, advance_pc */
	put_u8(&file->line, len);
	put(&file->line, "\0\1\1", 3);
	bytes_end(&file->line, begun, 4);
}

static void put_range(struct file *file, uint64_t lo, uint64_t hi)
{
	put_number(&file->ranges, lo, 8);
	put_number(&file->ranges, hi, 8);
}

static void open_file(struct file *file)
{
	bytes_into(&file->info, &file->source, DWARF_INFO);
	bytes_into(&file->abbrev, &file->source, DWARF_ABBREV);
	bytes_into(&file->aranges, &file->source, DWARF_ARANGES);
	bytes_into(&file->ranges, &file->source, DWARF_RANGES);
	bytes_into(&file->line, &file->source, DWARF_LINE);
	assert_int_equal(directory_new(&file->source, &file->head, &file->directory), 0);
}

static void expect(struct file *file, uint64_t addr, size_t nth, uint64_t want)
{
	uint64_t offset;

	assert_true(directory_find(file->directory, addr, nth, &offset));
	assert_int_equal(offset, want);
}

static void expect_none(struct file *file, uint64_t addr, size_t nth)
{
	uint64_t offset;

	assert_false(directory_find(file->directory, addr, nth, &offset));
}

static void what_is_listed_is_found_without_reading_units(void **state)
{
	struct file *file = *state;

	begin(file);
	put(&file->info, "not a unit at all", 18);
	put_arange(file, 0x1234, 0x2000, 0x100);
	put_arange(file, 0x5678, 0x3000, 0x10);
	open_file(file);
	expect(file, 0x2000, 0, 0x1234);
	expect(file, 0x20ff, 0, 0x1234);
	expect(file, 0x3000, 0, 0x5678);
	expect_none(file, 0x2100, 0);
	expect_none(file, 0x2fff, 0);
	expect_none(file, 0x2000, 1);
}

static void units_that_are_not_listed_tell_their_own_addresses(void **state)
{
	struct file *file = *state;
	uint64_t bounds;
	uint64_t ranges;
	uint64_t lines;

	begin(file);
	bounds = put_unit(file, BY_BOUNDS, 0x4000, 0x100);
	ranges = put_unit(file, BY_RANGES, 0, 0);
	put_range(file, 0x5000, 0x5010);
	put_range(file, 0x6000, 0x6010);
	put_range(file, 0, 0);
	lines = put_unit(file, BY_LINES, 0, 0);
	put_lines(file, 0x7000, 0x20);
	(void)put_unit(file, BY_NOTHING, 0, 0);
	(void)put_unit(file, PARTIAL, 0x8000, 0x100);
	put_arange(file, 0x99, 0x2000, 0x100);
	open_file(file);
	expect(file, 0x40ff, 0, bounds);
	expect(file, 0x5000, 0, ranges);
	expect(file, 0x600f, 0, ranges);
	expect_none(file, 0x5010, 0);
	expect(file, 0x7000, 0, lines);
	expect(file, 0x701f, 0, lines);
	expect_none(file, 0x7020, 0);
	expect_none(file, 0x8000, 0);
	expect(file, 0x2000, 0, 0x99);
}

static void where_units_overlap_the_narrowest_is_first(void **state)
{
	struct file *file = *state;
	uint64_t wide;
	uint64_t narrow;
	uint64_t middle;

	begin(file);
	wide = put_unit(file, BY_BOUNDS, 0x2000, 0x8000);
	narrow = put_unit(file, BY_BOUNDS, 0x3000, 0x10);
	middle = put_unit(file, BY_BOUNDS, 0x2800, 0x1000);
	open_file(file);
	expect(file, 0x3008, 0, narrow);
	expect(file, 0x3008, 1, middle);
	expect(file, 0x3008, 2, wide);
	expect_none(file, 0x3008, 3);
	expect(file, 0x3010, 0, middle);
	expect(file, 0x9fff, 0, wide); /* behind all the others */
}

static void of_units_with_the_same_code_the_first_is_first(void **state)
{
	struct file *file = *state;
	uint64_t units[20];

	begin(file);
	for (size_t i = 0; i < 20; i++)
		units[i] = put_unit(file, BY_BOUNDS, 0x2000, 0x10);
	open_file(file);
	for (size_t i = 0; i < 16; i++)
		expect(file, 0x2008, i, units[i]);
	expect_none(file, 0x2008, 16);
}

static void a_listed_unit_is_asked_before_one_that_only_claims(void **state)
{
	struct file *file = *state;
	uint64_t other;

	begin(file);
	other = put_unit(file, BY_BOUNDS, 0x2000, 0x10);
	put_arange(file, 0x99, 0x2000, 0x100);
	open_file(file);
	expect(file, 0x2000, 0, 0x99);
	expect(file, 0x2000, 1, other);
	expect_none(file, 0x2000, 2);
}

static void code_that_was_thrown_away_belongs_to_nobody(void **state)
{
	struct file *file = *state;

	begin(file);
	(void)put_unit(file, BY_BOUNDS, 0, 0x8000);
	(void)put_unit(file, BY_BOUNDS, 0x800, 0x8000); /* before the code */
	put_arange(file, 0x1, 0, 0x8000);
	put_arange(file, 0x2, UINT64_MAX - 4, 0x8000);
	open_file(file);
	expect_none(file, 0x2000, 0);
	expect_none(file, 0, 0);
}

static void many_units_with_one_long_list_are_not_all_read(void **state)
{
	struct file *file = *state;
	uint64_t offset;
	size_t n = 0;

	begin(file);
	for (int i = 0; i < 250; i++)
		(void)put_unit(file, BY_RANGES, 0, 0);
	for (int i = 0; i < 250; i++)
		put_range(file, 0x2000 + 0x20 * (uint64_t)i, 0x2010 + 0x20 * (uint64_t)i);
	put_range(file, 0, 0);
	open_file(file);
	/* Bounded by the bytes there are, and by how many candidates are kept. */
	while (directory_find(file->directory, 0x2000, n, &offset))
		n++;
	assert_in_range(n, 1, 16);
}

static void sets_that_lie_are_passed_over(void **state)
{
	struct file file;
	struct file whole;

	(void)state;
	begin(&whole);
	put_arange(&whole, 0x11, 0x2000, 0x100);
	put_arange(&whole, 0x22, 0x3000, 0x100);
	/* A version, a size of addresses and segments that are not read: the next set is. */
	for (size_t at = 4; at <= 11; at += at == 4 ? 6 : 1) {
		file = whole;
		file.aranges.of[at] = 9;
		open_file(&file);
		expect_none(&file, 0x2000, 0);
		expect(&file, 0x3000, 0, 0x22);
		directory_free(file.directory);
	}
	for (size_t n = 0; n < whole.aranges.n; n++) {
		file = whole;
		file.aranges.n = n;
		open_file(&file);
		expect_none(&file, 0x3000, 0);
		directory_free(file.directory);
	}
}

static void *find_all(void *context)
{
	struct file *file = (struct file *)context;
	uint64_t offset;

	for (uint64_t addr = 0x2000; addr < 0x3000; addr++) {
		if (!directory_find(file->directory, addr, 0, &offset))
			return NULL;
	}
	return context;
}

static void threads_share_what_the_first_makes(void **state)
{
	pthread_t threads[4];
	struct file *file = *state;

	begin(file);
	(void)put_unit(file, BY_BOUNDS, 0x2000, 0x1000);
	open_file(file);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, find_all, file), 0);
	for (size_t i = 0; i < 4; i++) {
		void *result;

		assert_int_equal(pthread_join(threads[i], &result), 0);
		assert_non_null(result);
	}
}

STATE_FIXTURE(file, file, directory_free(file->directory))

int main(void)
{
	const struct CMUnitTest tests[] = {
		own_test(what_is_listed_is_found_without_reading_units),
		own_test(units_that_are_not_listed_tell_their_own_addresses),
		own_test(where_units_overlap_the_narrowest_is_first),
		own_test(of_units_with_the_same_code_the_first_is_first),
		own_test(a_listed_unit_is_asked_before_one_that_only_claims),
		own_test(code_that_was_thrown_away_belongs_to_nobody),
		own_test(many_units_with_one_long_list_are_not_all_read),
		cmocka_unit_test(sets_that_lie_are_passed_over),
		own_test(threads_share_what_the_first_makes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
