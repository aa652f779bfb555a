/* dwarf_peer_test.c - rows, ranges and units of real files, against what libdw reads there */
#include "symbolize/dwarf/directory.h"
#include "symbolize/dwarf/lines.h"
#include "symbolize/dwarf/ranges.h"
#include "symbolize/dwarf/unit.h"
#include "symbolize/elf/elf_head.h"
#include "symbolize/sections/sections.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { MAX_RANGES = 4096, MAX_DEPTH = 64 };

/* A file as both sides see it. */
struct both {
	struct dwarf_sections sections;
	struct dwarf_source source;
	struct elf_head head;
	struct directory *directory;
	int fd;
	Dwarf *dwarf;
	size_t n_units;
	size_t n_rows;
	size_t n_lists;
	size_t n_found;
};

static void open_both(struct both *both, const char *path)
{
	*both = (struct both){.fd = open(path, O_RDONLY | O_CLOEXEC)};
	assert_true(both->fd >= 0);
	assert_int_equal(elf_head_read(&(struct elf_source){.fd = both->fd}, &both->head), 0);
	assert_int_equal(
		dwarf_sections_open(open(path, O_RDONLY | O_CLOEXEC), false, &both->sections), 0);
	memcpy(both->source.of, both->sections.of, sizeof(both->source.of));
	assert_int_equal(directory_new(&both->source, &both->head, &both->directory), 0);
	both->dwarf = dwarf_begin(both->fd, DWARF_C_READ);
	assert_non_null(both->dwarf);
}

static void close_both(struct both *both)
{
	(void)dwarf_end(both->dwarf);
	(void)close(both->fd);
	directory_free(both->directory);
	dwarf_sections_close(&both->sections);
}

/* libdw leaves relative what is relative to the folder where the compiler ran. */
static bool same_path(const char *ours, const char *theirs)
{
	size_t len = strlen(ours);
	size_t end = strlen(theirs);

	if (strcmp(ours, theirs) == 0)
		return true;
	return theirs[0] != '/' && len > end && ours[len - end - 1] == '/' &&
	       strcmp(ours + len - end, theirs) == 0;
}

/* A row where its sequence ends has no code: libdw puts it behind the end, and gives it to whatever
 * lies between that and the next sequence. */
static bool is_empty_end(const struct line_row *row, Dwarf_Line *line)
{
	Dwarf_Addr addr;

	return row->ends && dwarf_lineaddr(line, &addr) == 0 && addr == row->addr;
}

static void expect_row(struct line_table *table, Dwarf_Die *unit, uint64_t addr)
{
	size_t i = line_table_find(table, addr);
	const struct line_row *row = i < table->n_rows ? &table->rows[i] : NULL;
	Dwarf_Line *line = dwarf_getsrc_die(unit, addr);
	const char *path;
	int number;
	int column;
	bool is_stmt;

	if (!line) {
		assert_true(!row || row->ends);
		return;
	}
	assert_non_null(row);
	if (is_empty_end(row, line))
		return;
	assert_false(row->ends);
	path = dwarf_linesrc(line, NULL, NULL);
	assert_int_equal(dwarf_lineno(line, &number), 0);
	assert_int_equal(dwarf_linecol(line, &column), 0);
	assert_int_equal(dwarf_linebeginstatement(line, &is_stmt), 0);
	if (row->line != (uint32_t)number || !same_path(line_table_file(table, row->file), path))
		fail_msg("%#llx: %s:%u, libdw: %s:%d", (unsigned long long)addr,
			 line_table_file(table, row->file), row->line, path, number);
	assert_int_equal(row->column, column);
	assert_int_equal(row->is_stmt, is_stmt);
}

static void compare_lines(struct both *both, const struct dwarf_unit *unit, Dwarf_Die *die)
{
	struct line_table table = {0};
	Dwarf_Lines *lines;
	size_t n_lines;
	int r = lines_read(unit, &both->head, &table);

	if (dwarf_getsrclines(die, &lines, &n_lines) != 0 || n_lines == 0) {
		assert_int_equal(table.n_rows, 0);
		line_table_release(&table);
		return;
	}
	assert_int_equal(r, 0);
	for (size_t i = 0; i < table.n_rows; i++) {
		assert_true(i == 0 || table.rows[i - 1].addr < table.rows[i].addr);
		expect_row(&table, die, table.rows[i].addr);
		expect_row(&table, die, table.rows[i].addr + 1);
	}
	for (size_t i = 0; i < n_lines; i++) {
		Dwarf_Addr addr;
		bool ends;

		(void)dwarf_lineaddr(dwarf_onesrcline(lines, i), &addr);
		(void)dwarf_lineendsequence(dwarf_onesrcline(lines, i), &ends);
		if (addr && !ends && elf_head_executable(&both->head, addr))
			expect_row(&table, die, addr);
	}
	both->n_rows += table.n_rows;
	line_table_release(&table);
}

struct span {
	uint64_t lo;
	uint64_t hi;
};

struct spans {
	struct span of[MAX_RANGES];
	size_t n;
};

static int add_span(void *context, uint64_t lo, uint64_t hi)
{
	struct spans *spans = (struct spans *)context;

	if (spans->n < MAX_RANGES)
		spans->of[spans->n++] = (struct span){.lo = lo, .hi = hi};
	return 0;
}

static void compare_list(struct both *both, const struct dwarf_unit *unit, Dwarf_Die *die)
{
	struct spans ours = {.n = 0};
	struct spans theirs = {.n = 0};
	struct form_value value;
	struct cursor cursor;
	Dwarf_Attribute attr;
	Dwarf_Addr base;
	Dwarf_Addr lo;
	Dwarf_Addr hi;
	ptrdiff_t at = 0;

	if (!dwarf_attr(die, DW_AT_ranges, &attr))
		return;
	cursor = cursor_over(attr.valp, 16, 0, 16);
	form_read(&cursor, &unit->format, (uint16_t)attr.form, 0, &value);
	assert_int_equal(ranges_each(unit, &value, add_span, &ours), 0);
	while (theirs.n < MAX_RANGES && (at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0) {
		if (lo > 1 && lo < hi)
			(void)add_span(&theirs, lo, hi);
	}
	assert_int_equal(ours.n, theirs.n);
	assert_memory_equal(ours.of, theirs.of, ours.n * sizeof(ours.of[0]));
	both->n_lists++;
}

static void compare_lists(struct both *both, const struct dwarf_unit *unit, Dwarf_Die *die,
			  int depth)
{
	Dwarf_Die child;

	compare_list(both, unit, die);
	if (depth == MAX_DEPTH || dwarf_child(die, &child) != 0)
		return;
	do {
		compare_lists(both, unit, &child, depth + 1);
	} while (dwarf_siblingof(&child, &child) == 0);
}

/* Every function's first address leads to its unit. */
static void compare_units(struct both *both, const struct dwarf_unit *unit, Dwarf_Die *die)
{
	Dwarf_Die child;

	if (dwarf_child(die, &child) != 0)
		return;
	do {
		Dwarf_Addr addr;
		uint64_t offset;
		bool found = false;

		if (dwarf_tag(&child) != DW_TAG_subprogram || dwarf_lowpc(&child, &addr) != 0 ||
		    addr == 0 || !elf_head_executable(&both->head, addr))
			continue;
		for (size_t i = 0; !found && directory_find(both->directory, addr, i, &offset); i++)
			found = offset == unit->offset;
		assert_true(found);
		both->n_found++;
	} while (dwarf_siblingof(&child, &child) == 0);
}

static void compare_file(const char *path, struct both *both)
{
	Dwarf_Off offset = 0;
	Dwarf_Off next;
	size_t header;

	open_both(both, path);
	for (; dwarf_nextcu(both->dwarf, offset, &next, &header, NULL, NULL, NULL) == 0;
	     offset = next) {
		struct dwarf_unit unit;
		Dwarf_Die die;

		assert_int_equal(unit_next(&both->source, offset), next);
		assert_int_equal(unit_read(&both->source, offset, &unit), 0);
		assert_non_null(dwarf_offdie(both->dwarf, offset + header, &die));
		compare_lines(both, &unit, &die);
		compare_lists(both, &unit, &die, 0);
		compare_units(both, &unit, &die);
		both->n_units++;
	}
	close_both(both);
}

/* Files are those that build.sh made, or, for larger ones, what is given. */
static char **given;
static int n_given;

static void compare_given(const char *path)
{
	struct both both;

	compare_file(path, &both);
	printf("%s: %zu units, %zu rows, %zu lists, %zu functions\n", path, both.n_units,
	       both.n_rows, both.n_lists, both.n_found);
	assert_true(both.n_units > 0 && both.n_rows > 0);
}

static void what_is_read_is_what_libdw_reads(void **state)
{
	char path[PATH_MAX];
	char name[64];
	FILE *list;
	size_t n = 0;

	(void)state;
	for (int i = 0; i < n_given; i++)
		compare_given(given[i]);
	list = n_given ? NULL : fopen(DWARF_FILES "/list", "re");
	while (list && fscanf(list, "%63s", name) == 1) {
		(void)snprintf(path, sizeof(path), "%s/%s", DWARF_FILES, name);
		compare_given(path);
		n++;
	}
	if (list)
		(void)fclose(list);
	assert_true(n_given || n >= 10);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read_is_what_libdw_reads),
	};

	given = argv + 1;
	n_given = argc - 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
