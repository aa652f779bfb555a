/* dwarf_program.h - line programs put together by hand */
#ifndef DWARF_PROGRAM_H
#define DWARF_PROGRAM_H

#include "symbolize/dwarf/lines.h"

#include "tests/unit/dwarf_bytes.h"

#include <dwarf.h>

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
	struct dwarf_source source;
	size_t unit_length;
	size_t header_length;
	struct head head;
};

static inline void begin(struct program *program, const struct head *head)
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

static inline void end_of_header(struct program *program)
{
	bytes_end(&program->bytes, program->header_length, program->head.offset_size);
}

/* Folder 1 is "inc"; file 1 is main.c, file 2 inc/a.h, file 3 /abs/b.h. */
static inline void files_of_4(struct program *program)
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

static inline void begin_4(struct program *program)
{
	begin(program, &dwarf4);
	files_of_4(program);
}

static inline void op(struct program *program, uint8_t opcode)
{
	put_u8(&program->bytes, opcode);
}

static inline void op_uleb(struct program *program, uint8_t opcode, uint64_t operand)
{
	op(program, opcode);
	put_uleb(&program->bytes, operand);
}

static inline void op_sleb(struct program *program, uint8_t opcode, int64_t operand)
{
	op(program, opcode);
	put_sleb(&program->bytes, operand);
}

static inline void set_address(struct program *program, uint64_t addr)
{
	put(&program->bytes, "\0\x09\x02", 3);
	put_number(&program->bytes, addr, 8);
}

static inline void end_sequence(struct program *program)
{
	put(&program->bytes, "\0\1\1", 3);
}

/* The opcode that adds to both at once. */
static inline void special(struct program *program, unsigned operations, int line)
{
	op(program,
	   (uint8_t)((line - program->head.line_base) +
		     (int)(program->head.line_range * operations) + program->head.opcode_base));
}

static inline int read_program(struct program *program, struct line_table *table)
{
	struct dwarf_source *source = &program->source;
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
static inline struct line_table run(struct program *program)
{
	struct line_table table = {0};

	assert_int_equal(read_program(program, &table), 0);
	return table;
}

static inline void expect_row(const struct line_table *table, size_t i, uint64_t addr,
			      uint32_t file, uint32_t line)
{
	assert_true(i < table->n_rows);
	assert_int_equal(table->rows[i].addr, addr);
	assert_int_equal(table->rows[i].file, file);
	assert_int_equal(table->rows[i].line, line);
}

static inline void expect_end(const struct line_table *table, size_t i, uint64_t addr)
{
	assert_true(i < table->n_rows);
	assert_int_equal(table->rows[i].addr, addr);
	assert_int_equal(table->rows[i].line, 0);
	assert_true(table->rows[i].ends);
}

/* A sequence of two lines, from ADDR on for 16 bytes. */
static inline void sequence_at(struct program *program, uint64_t addr, int line)
{
	set_address(program, addr);
	op_sleb(program, DW_LNS_advance_line, line - 1);
	op(program, DW_LNS_copy);
	special(program, 8, 1);
	op_uleb(program, DW_LNS_advance_pc, 8);
	end_sequence(program);
}

#endif
