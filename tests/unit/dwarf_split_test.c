/* dwarf_split_test.c - units in .dwo and .dwp, the file of dwz -m, and libdw in our place */
#include "symbolize/dwarf/dwarf.h"
#include "symbolize/dwarf/split.h"
#include "symbolize/sections/dwarf_fallback.h"

#include "tests/unit/dwarf_bytes.h"

#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int open_built(const char *name)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s", DWARF_FILES, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* What a finder has, and what it was asked. */
struct beside {
	const char *package; /* NULL: none */
	const char *alt;
	const char *wrong_package; /* in front of it */
	const char *wrong_dwo;     /* another unit's, in front of the one that is named */
	bool no_dwo;               /* that one is not there */
	int n_asked;
};

static int open_dwo(void *context, const char *comp_dir, const char *name, size_t nth)
{
	struct beside *beside = (struct beside *)context;
	const char *wrong = name ? beside->wrong_dwo : beside->wrong_package;
	char path[PATH_MAX];

	beside->n_asked += name && nth == 0;
	if (wrong && nth-- == 0)
		return open_built(wrong);
	if (!name)
		return beside->package && nth == 0 ? open_built(beside->package) : -ENOENT;
	if (beside->no_dwo || nth)
		return -ENOENT;
	(void)snprintf(path, sizeof(path), "%s%s%s", name[0] == '/' ? "" : comp_dir,
		       name[0] == '/' ? "" : "/", name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int open_alt(void *context, const char *name, const uint8_t *build_id, size_t len)
{
	struct beside *beside = (struct beside *)context;
	int fd = beside->alt ? open_built(beside->alt) : -ENOENT;

	assert_string_equal(name, "dwz.alt");
	assert_non_null(build_id);
	assert_int_equal(len, 20);
	return fd;
}

/* The skeletons of a file, each with its split unit. */
struct subject {
	struct dwarf_sections sections;
	struct dwarf_source source;
	struct dwarf_finder finder;
	struct split *split;
};

static bool open_subject(struct subject *subject, const char *name, struct beside *beside)
{
	int fd = open_built(name);

	if (fd < 0)
		return false;
	*subject = (struct subject){.finder = {beside, open_alt, open_dwo}};
	assert_int_equal(dwarf_sections_open(fd, false, &subject->sections), 0);
	memcpy(subject->source.of, subject->sections.of, sizeof(subject->source.of));
	assert_int_equal(split_new(&subject->source, &subject->finder, &subject->split), 0);
	return true;
}

static void close_subject(struct subject *subject)
{
	split_free(subject->split);
	dwarf_sections_close(&subject->sections);
}

/* Looks for every unit's split one: how many were found, right in what they are. */
static size_t find_all(struct subject *subject)
{
	size_t n = 0;

	for (uint64_t at = 0; at < subject->source.of[DWARF_INFO].len;
	     at = unit_next(&subject->source, at)) {
		const struct dwarf_source *source;
		struct dwarf_unit skeleton;
		struct dwarf_unit unit;
		uint64_t offset;

		assert_int_equal(unit_read(&subject->source, at, &skeleton), 0);
		assert_true(skeleton.has_dwo_id);
		if (split_find(subject->split, &skeleton, &source, &offset) < 0)
			continue;
		assert_int_equal(unit_read(source, offset, &unit), 0);
		assert_true(source->split);
		assert_int_equal(unit.dwo_id, skeleton.dwo_id);
		assert_int_equal(unit.tag, DW_TAG_compile_unit);
		assert_true(strcmp(unit.name, "main.c") == 0 || strcmp(unit.name, "part.cc") == 0);
		n++;
	}
	return n;
}

static const char *const split_names[] = {"gcc_split4", "gcc_split5", "gcc_plain5", "clang_split4",
					  "clang_split5"};

static void split_units_are_found_in_their_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(split_names) / sizeof(split_names[0]); i++) {
		struct beside beside = {.n_asked = 0};
		struct subject subject;

		if (!open_subject(&subject, split_names[i], &beside))
			continue;
		assert_int_equal(find_all(&subject), 2);
		assert_int_equal(find_all(&subject), 2);
		assert_int_equal(beside.n_asked, 2); /* each once */
		close_subject(&subject);
	}
}

static void split_units_are_found_in_a_package(void **state)
{
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(split_names) / sizeof(split_names[0]); i++) {
		char package[64];
		struct beside beside = {.package = package, .no_dwo = true};
		struct subject subject;
		int fd;

		(void)snprintf(package, sizeof(package), "%s.dwp", split_names[i]);
		fd = open_built(package);
		if (fd < 0)
			continue;
		(void)close(fd);
		assert_true(open_subject(&subject, split_names[i], &beside));
		assert_int_equal(find_all(&subject), 2);
		assert_int_equal(beside.n_asked, 0);
		close_subject(&subject);
		n++;
	}
	if (n == 0)
		skip(); /* there is no llvm-dwp here */
}

static void a_file_that_has_another_unit_is_passed_over(void **state)
{
	struct beside beside = {.wrong_dwo = "gcc_split4.d/main.dwo",
				.wrong_package = "gcc_split4.d/main.dwo"};
	struct subject subject;

	(void)state;
	assert_true(open_subject(&subject, "gcc_split5", &beside));
	assert_int_equal(find_all(&subject), 2);
	close_subject(&subject);
	beside = (struct beside){
		.wrong_package = "clang_split4.dwp", .package = "clang_split5.dwp", .no_dwo = true};
	if (access(DWARF_FILES "/clang_split5.dwp", R_OK) < 0)
		skip(); /* there is no clang or llvm-dwp here */
	assert_true(open_subject(&subject, "clang_split5", &beside));
	assert_int_equal(find_all(&subject), 2);
	close_subject(&subject);
}

static void another_units_file_is_not_taken(void **state)
{
	struct beside beside = {.wrong_dwo = "gcc_split5.d/main.dwo", .no_dwo = true};
	struct subject subject;

	(void)state;
	assert_true(open_subject(&subject, "gcc_split5", &beside));
	assert_int_equal(find_all(&subject), 1); /* main.c's own */
	close_subject(&subject);
	beside = (struct beside){.no_dwo = true};
	assert_true(open_subject(&subject, "gcc_split5", &beside));
	assert_int_equal(find_all(&subject), 0);
	assert_int_equal(find_all(&subject), 0);
	assert_int_equal(beside.n_asked, 2); /* not again */
	close_subject(&subject);
}

static void the_alternate_file_is_taken_by_its_build_id(void **state)
{
	struct beside beside = {.alt = "dwz.alt"};
	struct dwarf_sections alt;
	struct subject subject;

	(void)state;
	if (!open_subject(&subject, "dwz_alt", &beside)) {
		skip(); /* there is no dwz here */
		return;
	}
	assert_int_equal(split_open_alt(&subject.sections, &subject.finder, &alt), 0);
	assert_true(alt.of[DWARF_STR].len > 0);
	dwarf_sections_close(&alt);
	beside.alt = "gcc5";
	assert_int_equal(split_open_alt(&subject.sections, &subject.finder, &alt), -ESTALE);
	beside.alt = NULL;
	assert_int_equal(split_open_alt(&subject.sections, &subject.finder, &alt), -ENOENT);
	assert_int_equal(split_open_alt(&subject.sections, NULL, &alt), -ENOENT);
	close_subject(&subject);
	assert_true(open_subject(&subject, "gcc5", &beside));
	assert_int_equal(split_open_alt(&subject.sections, &subject.finder, &alt), -ENOENT);
	close_subject(&subject);
}

/* An index of two slots with one unit: .debug_info [16, 32), .debug_abbrev [0, 8). */
static void put_index(struct bytes *bytes, uint16_t version)
{
	static const uint32_t tables[] = {1, 3, 16, 0, 16, 8};

	put_number(bytes, version, 4);
	put_number(bytes, 2, 4);
	put_number(bytes, 1, 4);
	put_number(bytes, 2, 4);
	put_number(bytes, 0, 8);
	put_number(bytes, 0x1234567800000001, 8);
	put_number(bytes, 0, 4);
	put_number(bytes, 1, 4);
	put(bytes, tables, sizeof(tables));
}

static int find_in_index(const struct bytes *index, uint64_t id, struct dwarf_bytes *of)
{
	static const uint8_t data[64];
	struct dwarf_sections sections = {0};

	sections.of[DWARF_CU_INDEX] = (struct dwarf_bytes){.data = index->of, .len = index->n};
	sections.of[DWARF_INFO] = (struct dwarf_bytes){.data = data, .len = 32};
	sections.of[DWARF_ABBREV] = (struct dwarf_bytes){.data = data, .len = 64};
	sections.of[DWARF_STR] = (struct dwarf_bytes){.data = data, .len = 64};
	return split_package_find(&sections, id, of);
}

static void a_packages_index_leads_to_slices(void **state)
{
	(void)state;
	for (uint16_t version = 2; version <= 5; version += 3) {
		struct dwarf_bytes of[N_DWARF_SECTIONS];
		struct bytes index = {.n = 0};

		put_index(&index, version);
		assert_int_equal(find_in_index(&index, 0x1234567800000001, of), 0);
		assert_int_equal(of[DWARF_INFO].len, 16);
		assert_int_equal(of[DWARF_ABBREV].len, 8);
		assert_int_equal(of[DWARF_STR].len, 64);
		assert_ptr_equal(of[DWARF_ABBREV].data + 16, of[DWARF_INFO].data);
		assert_int_equal(find_in_index(&index, 0x1234567800000003, of), -ENOENT);
		assert_int_equal(find_in_index(&index, 2, of), -ENOENT);
	}
}

static void an_index_that_lies_is_refused(void **state)
{
	/* Bytes of it: version, columns, slots, and the unit's row, offset and size. */
	static const struct {
		size_t at;
		uint8_t byte;
		int result;
	} lies[] = {
		{0, 3, -EBADMSG},   {4, 200, -EBADMSG}, {8, 200, -EBADMSG},  {12, 3, -EBADMSG},
		{15, 8, -EBADMSG},  {36, 2, -ENOENT},   {36, 0, -ENOENT},    {48, 33, -EBADMSG},
		{48, 17, -EBADMSG}, {56, 17, -EBADMSG}, {59, 255, -EBADMSG},
	};
	struct dwarf_bytes of[N_DWARF_SECTIONS];

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct bytes index = {.n = 0};

		put_index(&index, 2);
		index.of[lies[i].at] = lies[i].byte;
		assert_int_equal(find_in_index(&index, 0x1234567800000001, of), lies[i].result);
	}
	for (size_t n = 0; n < 64; n++) {
		struct bytes index = {.n = 0};

		put_index(&index, 2);
		index.n = n;
		assert_int_equal(find_in_index(&index, 0x1234567800000001, of), -EBADMSG);
	}
}

/* Every slot taken by another: a search has an end. */
static void a_full_index_is_searched_once(void **state)
{
	struct dwarf_bytes of[N_DWARF_SECTIONS];
	struct bytes index = {.n = 0};

	(void)state;
	put_index(&index, 5);
	index.of[32] = 1;
	assert_int_equal(find_in_index(&index, 0x99, of), -ENOENT);
}

static void expect_level(const struct function_level *ours, const struct function_level *theirs)
{
	size_t len = strlen(ours->name);
	size_t end = strlen(theirs->name);

	/* Without a linkage name libdw's is not qualified. */
	assert_true(len >= end);
	assert_string_equal(ours->name + len - end, theirs->name);
	assert_int_equal(ours->line, theirs->line);
	assert_int_equal(ours->column, theirs->column);
	assert_string_equal(ours->file, theirs->file);
}

/* Every address of a function, in its table by us and by libdw.  How many there were. */
static size_t compare_tables(const struct function_table *ours, const struct function_table *theirs)
{
	static struct function_chain our_chain;
	static struct function_chain their_chain;
	uint64_t lo;
	uint64_t hi;
	size_t n = 0;

	for (size_t i = 0; function_table_range(ours, i, &lo, &hi); i++) {
		for (uint64_t addr = lo; addr < hi; addr++, n++) {
			assert_int_equal(function_table_find(ours, addr, &our_chain), 0);
			assert_int_equal(function_table_find(theirs, addr, &their_chain), 0);
			assert_int_equal(our_chain.n_levels, their_chain.n_levels);
			for (size_t level = 0; level < our_chain.n_levels; level++)
				expect_level(&our_chain.levels[level], &their_chain.levels[level]);
		}
	}
	return n;
}

static size_t compare_at(struct dwarf_reader *reader, struct dwarf_fallback *fallback,
			 uint64_t addr)
{
	struct function_table ours = {0};
	struct function_table theirs = {0};
	size_t n = 0;

	if (dwarf_read_function(reader, addr, &ours) == 0) {
		struct function_chain *chain = test_calloc(1, sizeof(*chain));

		assert_int_equal(function_table_find(&ours, addr, chain), 0);
		if (chain->levels[chain->n_levels - 1].name[0]) {
			assert_int_equal(dwarf_fallback_read(fallback, addr, &theirs), 0);
			n = compare_tables(&ours, &theirs);
		}
		test_free(chain);
	}
	free((void *)(uintptr_t)ours.bytes);
	free((void *)(uintptr_t)theirs.bytes);
	return n;
}

static void libdw_in_our_place_tells_the_same(void **state)
{
	static const char *const names[] = {"gcc4", "gcc5", "gcc_64"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct dwarf_sections sections;
		struct dwarf_sections again;
		struct dwarf_file *file;
		struct dwarf_reader *reader;
		struct dwarf_fallback *fallback;
		struct elf_head head;
		int fd = open_built(names[i]);
		size_t n = 0;

		assert_int_equal(elf_head_read(&(struct elf_source){.fd = fd}, &head), 0);
		assert_int_equal(dwarf_sections_open(fd, false, &sections), 0);
		assert_int_equal(dwarf_sections_open(open_built(names[i]), false, &again), 0);
		assert_int_equal(dwarf_fallback_new(&again, &fallback), 0);
		assert_int_equal(
			dwarf_file_new(&sections, &(struct dwarf_options){.head = &head}, &file),
			0);
		assert_int_equal(dwarf_reader_new(file, &reader), 0);
		for (uint64_t addr = 0x1000; addr < 0x1800; addr += 16)
			n += compare_at(reader, fallback, addr);
		assert_true(n > 200);
		dwarf_reader_free(reader);
		dwarf_file_free(file);
		dwarf_fallback_free(fallback);
		dwarf_sections_close(&again);
	}
}

static void libdw_is_not_asked_beyond_the_code(void **state)
{
	struct function_table table;
	struct dwarf_sections sections;
	struct dwarf_fallback *fallback;

	(void)state;
	assert_int_equal(dwarf_sections_open(open_built("gcc5"), false, &sections), 0);
	assert_int_equal(dwarf_fallback_new(&sections, &fallback), 0);
	assert_int_equal(dwarf_fallback_read(fallback, 0, &table), -ENOENT);
	assert_int_equal(dwarf_fallback_read(fallback, UINT64_MAX, &table), -ENOENT);
	dwarf_fallback_free(fallback);
	dwarf_sections_close(&sections);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(split_units_are_found_in_their_files),
		cmocka_unit_test(split_units_are_found_in_a_package),
		cmocka_unit_test(a_file_that_has_another_unit_is_passed_over),
		cmocka_unit_test(another_units_file_is_not_taken),
		cmocka_unit_test(the_alternate_file_is_taken_by_its_build_id),
		cmocka_unit_test(a_packages_index_leads_to_slices),
		cmocka_unit_test(an_index_that_lies_is_refused),
		cmocka_unit_test(a_full_index_is_searched_once),
		cmocka_unit_test(libdw_in_our_place_tells_the_same),
		cmocka_unit_test(libdw_is_not_asked_beyond_the_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
