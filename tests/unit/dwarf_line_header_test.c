/* dwarf_line_header_test.c - tables of folders and files in every version, and lies */
#include "state_fixture.h"
#include "tests/unit/dwarf_program.h"

#include <errno.h>

/* Folders as strings in place; files by name in .debug_line_str, folder, MD5 and a size. */
static void tables_of_5(struct program *program, const char *root)
{
	put(&program->bytes, "\1\1\x08\3", 4);
	put_string(&program->bytes, root);
	put_string(&program->bytes, "inc");
	put_string(&program->bytes, "/usr/include");
	put(&program->bytes, "\4\1\x1f\2\x0b\5\x1e\4\x0f\3", 10);
	put_string(&program->line_str, "main.c");
	put_string(&program->line_str, "a.h");
	for (uint8_t i = 0; i < 3; i++) {
		put_number(&program->bytes, i == 0 ? 0 : 7, 4);
		put_u8(&program->bytes, i);
		put(&program->bytes, "0123456789abcdef", 16);
		put_uleb(&program->bytes, 1000);
	}
	end_of_header(program);
}

static void files_before_dwarf_5_count_from_1(void **state)
{
	struct program program;
	struct line_table *table = *state;

	begin_4(&program);
	put(&program.bytes, "\0\x0b\3", 3); /* DW_LNE_define_file: a name and three numbers */
	put(&program.bytes, "late.c\0\0\0", 10);
	sequence_at(&program, 0x2000, 1);
	*table = run(&program);
	assert_int_equal(line_table_n_files(table), 5);
	assert_string_equal(line_table_file(table, 0), "/src/unit.c");
	assert_string_equal(line_table_file(table, 1), "/src/main.c");
	assert_string_equal(line_table_file(table, 2), "/src/inc/a.h");
	assert_string_equal(line_table_file(table, 3), "/abs/b.h");
	assert_string_equal(line_table_file(table, 4), "/src/late.c");
	assert_string_equal(line_table_file(table, 5), "");
	assert_string_equal(line_table_file(table, UINT64_MAX), "");
	assert_ptr_equal(line_table_file(table, 2), line_table_file(table, 2));
}

static void files_of_dwarf_5_count_from_0(void **state)
{
	struct program program;
	struct line_table *table = *state;

	begin(&program, &dwarf5);
	tables_of_5(&program, "/build");
	sequence_at(&program, 0x2000, 1);
	*table = run(&program);
	assert_int_equal(table->n_rows, 3);
	assert_int_equal(line_table_n_files(table), 3);
	assert_string_equal(line_table_file(table, 0), "/build/main.c");
	assert_string_equal(line_table_file(table, 1), "/build/inc/a.h");
	assert_string_equal(line_table_file(table, 2), "/usr/include/a.h");
	assert_string_equal(line_table_file(table, 3), "");
}

static void a_relative_folder_0_is_where_the_compiler_ran(void **state)
{
	struct program program;
	struct line_table *table = *state;

	begin(&program, &dwarf5);
	tables_of_5(&program, "obj");
	sequence_at(&program, 0x2000, 1);
	*table = run(&program);
	assert_string_equal(line_table_file(table, 0), "/src/obj/main.c");
	assert_string_equal(line_table_file(table, 1), "/src/obj/inc/a.h");
}

static void dwarf64_has_longer_offsets(void **state)
{
	struct head head = dwarf4;
	struct program program;
	struct line_table *table = *state;

	head.offset_size = 8;
	begin(&program, &head);
	files_of_4(&program);
	sequence_at(&program, 0x2000, 20);
	*table = run(&program);
	assert_int_equal(table->n_rows, 3);
}

/* Where the fields of a program in the form of dwarf4 are. */
enum { AT_VERSION = 4, AT_HEADER_LENGTH = 6, AT_MAX_OPERATIONS = 11, AT_LINE_RANGE = 14 };

static void lies_in_the_header_cost_the_program(void **state)
{
	static const struct {
		size_t at;
		uint8_t byte;
	} lies[] = {
		{AT_VERSION, 1},          {AT_VERSION, 6},    {AT_HEADER_LENGTH + 3, 0x7f},
		{AT_HEADER_LENGTH, 3},    {AT_LINE_RANGE, 0}, {AT_LINE_RANGE + 1, 0},
		{AT_MAX_OPERATIONS, 0},   {3, 0x7f},          {0, 0xf0},
		{AT_LINE_RANGE + 1, 255},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct dwarf_source source = {0};
		struct line_table table = {0};
		struct elf_head head = bytes_head();
		struct dwarf_unit unit = {.source = &source,
					  .format = {4, 8, 4},
					  .has_stmt_list = true,
					  .comp_dir = "",
					  .name = ""};
		struct program program;

		begin_4(&program);
		sequence_at(&program, 0x2000, 20);
		bytes_end(&program.bytes, program.unit_length, 4);
		program.bytes.of[lies[i].at] = lies[i].byte;
		bytes_into(&program.bytes, &source, DWARF_LINE);
		assert_int_equal(lines_read(&unit, &head, &table), -EBADMSG);
		assert_null(table.rows);
		assert_null(table.files);
	}
}

static void tables_that_lie_cost_the_program(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
	} tables[] = {
		{"\1\1\x08\xff\xff\xff\xff\x0f", 8}, /* four thousand million folders */
		{"\0\xff\xff\xff\xff\x0f", 6},       /* of nothing */
		{"\1\1\x7f\1\0\0", 6},               /* an unknown form */
		{"\xff\1\x08", 3},                   /* 255 contents */
		{"\1\1\x08\1x", 5},                  /* a string without an end */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct line_table table = {0};
		struct program program;

		begin(&program, &dwarf5);
		put(&program.bytes, tables[i].bytes, tables[i].n);
		end_of_header(&program);
		assert_int_equal(read_program(&program, &table), -EBADMSG);
	}
}

static void a_program_cut_anywhere_is_read_or_refused(void **state)
{
	struct elf_head head = bytes_head();
	struct program program;

	(void)state;
	begin(&program, &dwarf5);
	tables_of_5(&program, "/build");
	sequence_at(&program, 0x3000, 30);
	sequence_at(&program, 0x2000, 20);
	for (size_t n = 0; n < program.bytes.n; n++) {
		/* On the heap and just as long, so that a sanitizer sees a step too far. */
		uint8_t *cut = test_malloc(n + 1);
		struct dwarf_source source = {0};
		struct line_table table = {0};
		struct dwarf_unit unit = {.source = &source,
					  .format = {5, 8, 4},
					  .has_stmt_list = true,
					  .comp_dir = "",
					  .name = ""};
		uint32_t len = n > 4 ? (uint32_t)n - 4 : 0;

		memcpy(program.bytes.of, &len, sizeof(len));
		memcpy(cut, program.bytes.of, n);
		source.of[DWARF_LINE] = (struct dwarf_bytes){.data = cut, .len = n};
		if (lines_read(&unit, &head, &table) == 0)
			assert_in_range(table.n_rows, 0, 3);
		line_table_release(&table);
		test_free(cut);
	}
}

STATE_FIXTURE(line_table, table, line_table_release(table))

int main(void)
{
	const struct CMUnitTest tests[] = {
		own_test(files_before_dwarf_5_count_from_1),
		own_test(files_of_dwarf_5_count_from_0),
		own_test(a_relative_folder_0_is_where_the_compiler_ran),
		own_test(dwarf64_has_longer_offsets),
		cmocka_unit_test(lies_in_the_header_cost_the_program),
		cmocka_unit_test(tables_that_lie_cost_the_program),
		cmocka_unit_test(a_program_cut_anywhere_is_read_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
