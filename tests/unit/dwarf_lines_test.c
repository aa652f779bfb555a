/* dwarf_lines_test.c - line programs by hand: every opcode, every table, and lies */
#include "symbolize/dwarf/lines.h"

#include "tests/unit/dwarf_bytes.h"

#include <dwarf.h>
#include <errno.h>

/* The head of a program. */
struct head {
	uint16_t version;
	uint8_t offset_size;
	uint8_t min_instruction;
	uint8_t max_operations;
	uint8_t opcode_base;
	int8_t line_base;
	uint8_t line_range;
};

static const struct head dwarf4 = {4, 4, 1, 1, 13, -5, 14};
static const struct head dwarf5 = {5, 4, 1, 1, 13, -5, 14};

static const uint8_t standard_lengths[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 2, 0, 3};

struct program {
	struct bytes bytes;
	struct bytes line_str;
	size_t unit_length;
	size_t header_length;
	struct head head;
};

static void begin(struct program *program, const struct head *head)
{
	*program = (struct program){.head = *head};
	program->unit_length = bytes_begin(&program->bytes, head->offset_size);
	put_number(&program->bytes, head->version, 2);
	if (head->version == 5)
		put(&program->bytes, "\x08", 2); /* sizes of addresses and of segment selectors */
	put_number(&program->bytes, 0, head->offset_size);
	program->header_length = program->bytes.n;
	put_u8(&program->bytes, head->min_instruction);
	if (head->version >= 4)
		put_u8(&program->bytes, head->max_operations);
	put_u8(&program->bytes, 1);
	put_u8(&program->bytes, (uint8_t)head->line_base);
	put_u8(&program->bytes, head->line_range);
	put_u8(&program->bytes, head->opcode_base);
	put(&program->bytes, standard_lengths, head->opcode_base - 1U);
}

static void end_of_header(struct program *program)
{
	bytes_end(&program->bytes, program->header_length, program->head.offset_size);
}

/* Folder 1 is "inc"; file 1 is main.c, file 2 inc/a.h, file 3 /abs/b.h. */
static void files_of_4(struct program *program)
{
	put_string(&program->bytes, "inc");
	put_u8(&program->bytes, 0);
	put_string(&program->bytes, "main.c");
	put(&program->bytes, "\0\0", 3);
	put_string(&program->bytes, "a.h");
	put(&program->bytes, "\1\7", 3);
	put_string(&program->bytes, "/abs/b.h");
	put(&program->bytes, "\1\7", 3);
	put_u8(&program->bytes, 0);
	end_of_header(program);
}

static void begin_4(struct program *program)
{
	begin(program, &dwarf4);
	files_of_4(program);
}

static void op(struct program *program, uint8_t opcode)
{
	put_u8(&program->bytes, opcode);
}

static void op_uleb(struct program *program, uint8_t opcode, uint64_t operand)
{
	op(program, opcode);
	put_uleb(&program->bytes, operand);
}

static void op_sleb(struct program *program, uint8_t opcode, int64_t operand)
{
	op(program, opcode);
	put_sleb(&program->bytes, operand);
}

static void set_address(struct program *program, uint64_t addr)
{
	put(&program->bytes, "\0\x09\x02", 3);
	put_number(&program->bytes, addr, 8);
}

static void end_sequence(struct program *program)
{
	put(&program->bytes, "\0\1\1", 3);
}

/* The opcode that adds to both at once. */
static void special(struct program *program, unsigned operations, int line)
{
	op(program,
	   (uint8_t)((line - program->head.line_base) +
		     (int)(program->head.line_range * operations) + program->head.opcode_base));
}

static int read_program(struct program *program, struct dwarf_source *source,
			struct line_table *table)
{
	struct elf_head head = bytes_head();
	struct dwarf_unit unit = {
		.source = source,
		.format = {.version = program->head.version, .address_size = 8, .offset_size = 4},
		.has_stmt_list = true,
		.comp_dir = "/src",
		.name = "unit.c",
	};

	bytes_end(&program->bytes, program->unit_length, program->head.offset_size);
	bytes_into(&program->bytes, source, DWARF_LINE);
	bytes_into(&program->line_str, source, DWARF_LINE_STR);
	return lines_read(&unit, &head, table);
}

/* Runs a program that is expected to be right. */
static struct line_table run(struct program *program, struct dwarf_source *source)
{
	struct line_table table = {0};

	assert_int_equal(read_program(program, source, &table), 0);
	return table;
}

static void expect_row(const struct line_table *table, size_t i, uint64_t addr, uint32_t file,
		       uint32_t line)
{
	assert_true(i < table->n_rows);
	assert_int_equal(table->rows[i].addr, addr);
	assert_int_equal(table->rows[i].file, file);
	assert_int_equal(table->rows[i].line, line);
}

static void expect_end(const struct line_table *table, size_t i, uint64_t addr)
{
	assert_true(i < table->n_rows);
	assert_int_equal(table->rows[i].addr, addr);
	assert_int_equal(table->rows[i].line, 0);
	assert_true(table->rows[i].ends);
}

static void every_standard_opcode_moves_its_register(void **state)
{
	struct dwarf_source source = {0};
	struct program program;
	struct line_table table;

	(void)state;
	begin_4(&program);
	set_address(&program, 0x2000);
	op(&program, DW_LNS_copy); /* 0x2000: file 1, line 1 */
	op_uleb(&program, DW_LNS_advance_pc, 0x10);
	op_sleb(&program, DW_LNS_advance_line, 99);
	op_uleb(&program, DW_LNS_set_file, 2);
	op_uleb(&program, DW_LNS_set_column, 7);
	op(&program, DW_LNS_negate_stmt);
	op(&program, DW_LNS_copy);         /* 0x2010: file 2, line 100, column 7 */
	op(&program, DW_LNS_const_add_pc); /* (255 - 13) / 14 = 17 */
	op(&program, DW_LNS_set_basic_block);
	op(&program, DW_LNS_set_prologue_end);
	op(&program, DW_LNS_set_epilogue_begin);
	op_uleb(&program, DW_LNS_set_isa, 300);
	op_sleb(&program, DW_LNS_advance_line, -50);
	op(&program, DW_LNS_copy); /* 0x2021: line 50 */
	op(&program, DW_LNS_fixed_advance_pc);
	put_number(&program.bytes, 0x1234, 2);
	op(&program, DW_LNS_copy); /* 0x3255 */
	special(&program, 3, -4);  /* 0x3258: line 46 */
	op_uleb(&program, DW_LNS_advance_pc, 0x300);
	op_sleb(&program, DW_LNS_advance_line, 1000);
	op_uleb(&program, DW_LNS_set_column, 300);
	op_uleb(&program, DW_LNS_set_file, 130);
	op(&program, DW_LNS_copy); /* 0x3558: file 130, line 1046, column 300 */
	op_uleb(&program, DW_LNS_advance_pc, 1);
	end_sequence(&program);
	table = run(&program, &source);
	assert_int_equal(table.n_rows, 7);
	expect_row(&table, 0, 0x2000, 1, 1);
	assert_true(table.rows[0].is_stmt);
	expect_row(&table, 1, 0x2010, 2, 100);
	assert_int_equal(table.rows[1].column, 7);
	assert_false(table.rows[1].is_stmt);
	expect_row(&table, 2, 0x2021, 2, 50);
	expect_row(&table, 3, 0x3255, 2, 50);
	expect_row(&table, 4, 0x3258, 2, 46);
	expect_row(&table, 5, 0x3558, 130, 1046);
	assert_int_equal(table.rows[5].column, 300);
	expect_end(&table, 6, 0x3559);
	line_table_release(&table);
}

static void unknown_opcodes_are_passed_over_by_their_lengths(void **state)
{
	const struct head head = {4, 4, 1, 1, 16, -5, 14};
	struct dwarf_source source = {0};
	struct program program;
	struct line_table table;

	(void)state;
	begin(&program, &head);
	files_of_4(&program);
	set_address(&program, 0x2000);
	op_uleb(&program, 13, 1000); /* two operands */
	put_uleb(&program.bytes, 1);
	op(&program, 14);
	op_uleb(&program, 15, 1); /* three */
	put_uleb(&program.bytes, 200);
	put_uleb(&program.bytes, 3);
	put(&program.bytes, "\0\4\x80xyz", 6); /* extended: DW_LNE_lo_user */
	put(&program.bytes, "\0\2\4\7", 4);    /* DW_LNE_set_discriminator */
	put(&program.bytes, "\0\0", 2);        /* extended, without an opcode */
	special(&program, 0, 1);
	op_uleb(&program, DW_LNS_advance_pc, 4);
	end_sequence(&program);
	table = run(&program, &source);
	assert_int_equal(table.n_rows, 2);
	expect_row(&table, 0, 0x2000, 1, 2);
	line_table_release(&table);
}

static void opcodes_above_a_small_base_are_special(void **state)
{
	const struct head head = {2, 4, 2, 1, 4, -1, 4};
	struct dwarf_source source = {0};
	struct program program;
	struct line_table table;

	(void)state;
	begin(&program, &head);
	files_of_4(&program);
	set_address(&program, 0x2000);
	op(&program, 4 + 1 * 4 + 3); /* not DW_LNS_fixed_advance_pc's neighbour: 1 operation, +2 */
	op_uleb(&program, DW_LNS_advance_pc, 3);
	end_sequence(&program);
	table = run(&program, &source);
	expect_row(&table, 0, 0x2002, 1, 3);
	expect_end(&table, 1, 0x2008);
	line_table_release(&table);
}

static void operations_of_long_instructions_are_counted(void **state)
{
	const struct head head = {4, 4, 4, 3, 13, -5, 14};
	struct dwarf_source source = {0};
	struct program program;
	struct line_table table;

	(void)state;
	begin(&program, &head);
	files_of_4(&program);
	set_address(&program, 0x2000);
	op(&program, DW_LNS_copy);
	op_uleb(&program, DW_LNS_advance_pc, 2); /* still the same instruction */
	special(&program, 2, 1);                 /* operation 4: one instruction on */
	op_uleb(&program, DW_LNS_advance_pc, 2);
	end_sequence(&program);
	table = run(&program, &source);
	assert_int_equal(table.n_rows, 3);
	expect_row(&table, 0, 0x2000, 1, 1);
	expect_row(&table, 1, 0x2004, 1, 2);
	expect_end(&table, 2, 0x2008);
	line_table_release(&table);
}

static void of_rows_at_one_address_the_last_wins(void **state)
{
	struct dwarf_source source = {0};
	struct program program;
	struct line_table table;

	(void)state;
	begin_4(&program);
	set_address(&program, 0x2000);
	special(&program, 0, 1);
	special(&program, 0, 1);
	special(&program, 4, 1);
	special(&program, 4, 1);
	special(&program, 0, 1);
	end_sequence(&program); /* at the address of the last: that one has no code */
	table = run(&program, &source);
	assert_int_equal(table.n_rows, 3);
	expect_row(&table, 0, 0x2000, 1, 3);
	expect_row(&table, 1, 0x2004, 1, 4);
	expect_end(&table, 2, 0x2008);
	assert_int_equal(line_table_find(&table, 0x1fff), table.n_rows);
	assert_int_equal(line_table_find(&table, 0x2003), 0);
	assert_int_equal(line_table_find(&table, 0x2004), 1);
	assert_int_equal(line_table_find(&table, UINT64_MAX), 2);
	line_table_release(&table);
}

/* A sequence of two lines, from ADDR on for 16 bytes. */
static void sequence_at(struct program *program, uint64_t addr, int line)
{
	set_address(program, addr);
	op_sleb(program, DW_LNS_advance_line, line - 1);
	op(program, DW_LNS_copy);
	special(program, 8, 1);
	op_uleb(program, DW_LNS_advance_pc, 8);
	end_sequence(program);
}

static void sequences_come_in_order_of_addresses(void **state)
{
	struct dwarf_source source = {0};
	struct program program;
	struct line_table table;

	(void)state;
	begin_4(&program);
	sequence_at(&program, 0x3000, 30);
	sequence_at(&program, 0x2000, 20);
	sequence_at(&program, 0x2010, 40); /* begins where the one before it ends */
	table = run(&program, &source);
	assert_int_equal(table.n_rows, 8);
	expect_row(&table, 0, 0x2000, 1, 20);
	expect_row(&table, 1, 0x2008, 1, 21);
	expect_row(&table, 2, 0x2010, 1, 40);
	expect_end(&table, 4, 0x2020);
	expect_row(&table, 5, 0x3000, 1, 30);
	expect_end(&table, 7, 0x3010);
	line_table_release(&table);
}

static void where_sequences_overlap_the_first_keeps_its_rows(void **state)
{
	struct dwarf_source source = {0};
	struct program program;
	struct line_table table;

	(void)state;
	begin_4(&program);
	sequence_at(&program, 0x200c, 50); /* its first row is cut */
	sequence_at(&program, 0x2000, 20);
	sequence_at(&program, 0x2000, 30); /* the same code again: folded */
	table = run(&program, &source);
	assert_int_equal(table.n_rows, 5);
	expect_row(&table, 0, 0x2000, 1, 20);
	expect_row(&table, 1, 0x2008, 1, 21);
	expect_row(&table, 2, 0x2010, 1, 50);
	expect_row(&table, 3, 0x2014, 1, 51);
	expect_end(&table, 4, 0x201c);
	line_table_release(&table);
}

static void code_that_was_thrown_away_has_no_rows(void **state)
{
	struct dwarf_source source = {0};
	struct program program;
	struct line_table table;

	(void)state;
	begin_4(&program);
	sequence_at(&program, 0, 1);
	sequence_at(&program, 1, 1);
	sequence_at(&program, UINT64_MAX, 1);
	sequence_at(&program, UINT64_MAX - 1, 1);
	sequence_at(&program, 0x100000, 1); /* data */
	sequence_at(&program, 0x2000, 20);
	table = run(&program, &source);
	assert_int_equal(table.n_rows, 3);
	expect_row(&table, 0, 0x2000, 1, 20);
	line_table_release(&table);
}

static void addresses_that_go_down_are_put_in_order(void **state)
{
	struct dwarf_source source = {0};
	struct program program;
	struct line_table table;

	(void)state;
	begin_4(&program);
	set_address(&program, 0x2020);
	special(&program, 0, 1);
	set_address(&program, 0x2010);
	special(&program, 0, 1);
	special(&program, 0, 1);
	set_address(&program, 0x2000);
	special(&program, 0, 1);
	set_address(&program, 0x2030);
	end_sequence(&program);
	table = run(&program, &source);
	assert_int_equal(table.n_rows, 4);
	expect_row(&table, 0, 0x2000, 1, 5);
	expect_row(&table, 1, 0x2010, 1, 4);
	expect_row(&table, 2, 0x2020, 1, 2);
	expect_end(&table, 3, 0x2030);
	line_table_release(&table);
}

static void a_sequence_without_an_end_is_none(void **state)
{
	struct dwarf_source source = {0};
	struct program program;
	struct line_table table;

	(void)state;
	begin_4(&program);
	sequence_at(&program, 0x2000, 20);
	set_address(&program, 0x3000);
	special(&program, 0, 1);
	special(&program, 1, 1);
	table = run(&program, &source);
	assert_int_equal(table.n_rows, 3);
	line_table_release(&table);
}

static void a_program_of_many_rows_is_taken_whole(void **state)
{
	struct dwarf_source source = {0};
	struct program program;
	struct line_table table;

	(void)state;
	begin_4(&program);
	set_address(&program, 0x2000);
	for (int i = 0; i < 3000; i++)
		special(&program, 1, 1);
	op_uleb(&program, DW_LNS_advance_pc, 1);
	end_sequence(&program);
	table = run(&program, &source);
	assert_int_equal(table.n_rows, 3001);
	expect_row(&table, 2999, 0x2000 + 3000, 1, 3001);
	line_table_release(&table);
}

static void files_before_dwarf_5_count_from_1(void **state)
{
	struct dwarf_source source = {0};
	struct program program;
	struct line_table table;

	(void)state;
	begin_4(&program);
	put(&program.bytes, "\0\x0b\3", 3); /* DW_LNE_define_file: a name and three numbers */
	put(&program.bytes, "late.c\0\0\0", 10);
	sequence_at(&program, 0x2000, 1);
	table = run(&program, &source);
	assert_int_equal(line_table_n_files(&table), 5);
	assert_string_equal(line_table_file(&table, 0), "/src/unit.c");
	assert_string_equal(line_table_file(&table, 1), "/src/main.c");
	assert_string_equal(line_table_file(&table, 2), "/src/inc/a.h");
	assert_string_equal(line_table_file(&table, 3), "/abs/b.h");
	assert_string_equal(line_table_file(&table, 4), "/src/late.c");
	assert_string_equal(line_table_file(&table, 5), "");
	assert_string_equal(line_table_file(&table, UINT64_MAX), "");
	assert_ptr_equal(line_table_file(&table, 2), line_table_file(&table, 2));
	line_table_release(&table);
}

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

static void files_of_dwarf_5_count_from_0(void **state)
{
	struct dwarf_source source = {0};
	struct program program;
	struct line_table table;

	(void)state;
	begin(&program, &dwarf5);
	tables_of_5(&program, "/build");
	sequence_at(&program, 0x2000, 1);
	table = run(&program, &source);
	assert_int_equal(table.n_rows, 3);
	assert_int_equal(line_table_n_files(&table), 3);
	assert_string_equal(line_table_file(&table, 0), "/build/main.c");
	assert_string_equal(line_table_file(&table, 1), "/build/inc/a.h");
	assert_string_equal(line_table_file(&table, 2), "/usr/include/a.h");
	assert_string_equal(line_table_file(&table, 3), "");
	line_table_release(&table);
}

static void a_relative_folder_0_is_where_the_compiler_ran(void **state)
{
	struct dwarf_source source = {0};
	struct program program;
	struct line_table table;

	(void)state;
	begin(&program, &dwarf5);
	tables_of_5(&program, "obj");
	sequence_at(&program, 0x2000, 1);
	table = run(&program, &source);
	assert_string_equal(line_table_file(&table, 0), "/src/obj/main.c");
	assert_string_equal(line_table_file(&table, 1), "/src/obj/inc/a.h");
	line_table_release(&table);
}

static void dwarf64_has_longer_offsets(void **state)
{
	struct head head = dwarf4;
	struct dwarf_source source = {0};
	struct program program;
	struct line_table table;

	(void)state;
	head.offset_size = 8;
	begin(&program, &head);
	files_of_4(&program);
	sequence_at(&program, 0x2000, 20);
	table = run(&program, &source);
	assert_int_equal(table.n_rows, 3);
	line_table_release(&table);
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
		struct dwarf_source source = {0};
		struct line_table table = {0};
		struct program program;

		begin(&program, &dwarf5);
		put(&program.bytes, tables[i].bytes, tables[i].n);
		end_of_header(&program);
		assert_int_equal(read_program(&program, &source, &table), -EBADMSG);
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

static void a_unit_without_a_program_has_no_lines(void **state)
{
	struct elf_head head = bytes_head();
	struct dwarf_source source = {0};
	struct dwarf_unit unit = {.source = &source, .has_stmt_list = true};
	struct line_table table;

	(void)state;
	assert_int_equal(lines_read(&unit, &head, &table), -ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_standard_opcode_moves_its_register),
		cmocka_unit_test(unknown_opcodes_are_passed_over_by_their_lengths),
		cmocka_unit_test(opcodes_above_a_small_base_are_special),
		cmocka_unit_test(operations_of_long_instructions_are_counted),
		cmocka_unit_test(of_rows_at_one_address_the_last_wins),
		cmocka_unit_test(sequences_come_in_order_of_addresses),
		cmocka_unit_test(where_sequences_overlap_the_first_keeps_its_rows),
		cmocka_unit_test(code_that_was_thrown_away_has_no_rows),
		cmocka_unit_test(addresses_that_go_down_are_put_in_order),
		cmocka_unit_test(a_sequence_without_an_end_is_none),
		cmocka_unit_test(a_program_of_many_rows_is_taken_whole),
		cmocka_unit_test(files_before_dwarf_5_count_from_1),
		cmocka_unit_test(files_of_dwarf_5_count_from_0),
		cmocka_unit_test(a_relative_folder_0_is_where_the_compiler_ran),
		cmocka_unit_test(dwarf64_has_longer_offsets),
		cmocka_unit_test(lies_in_the_header_cost_the_program),
		cmocka_unit_test(tables_that_lie_cost_the_program),
		cmocka_unit_test(a_program_cut_anywhere_is_read_or_refused),
		cmocka_unit_test(a_unit_without_a_program_has_no_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
