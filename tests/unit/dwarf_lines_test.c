/* dwarf_lines_test.c - line programs by hand: every opcode, order, what is thrown away */
#include "state_fixture.h"
#include "tests/unit/dwarf_program.h"

#include <errno.h>

static void every_standard_opcode_moves_its_register(void **state)
{
	struct program program;
	struct line_table *table = *state;

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
	*table = run(&program);
	assert_int_equal(table->n_rows, 7);
	expect_row(table, 0, 0x2000, 1, 1);
	assert_true(table->rows[0].is_stmt);
	expect_row(table, 1, 0x2010, 2, 100);
	assert_int_equal(table->rows[1].column, 7);
	assert_false(table->rows[1].is_stmt);
	expect_row(table, 2, 0x2021, 2, 50);
	expect_row(table, 3, 0x3255, 2, 50);
	expect_row(table, 4, 0x3258, 2, 46);
	expect_row(table, 5, 0x3558, 130, 1046);
	assert_int_equal(table->rows[5].column, 300);
	expect_end(table, 6, 0x3559);
}

static void unknown_opcodes_are_passed_over_by_their_lengths(void **state)
{
	const struct head head = {4, 4, 1, 1, 16, -5, 14};
	struct program program;
	struct line_table *table = *state;

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
	*table = run(&program);
	assert_int_equal(table->n_rows, 2);
	expect_row(table, 0, 0x2000, 1, 2);
}

static void opcodes_above_a_small_base_are_special(void **state)
{
	const struct head head = {2, 4, 2, 1, 4, -1, 4};
	struct program program;
	struct line_table *table = *state;

	begin(&program, &head);
	files_of_4(&program);
	set_address(&program, 0x2000);
	op(&program, 4 + 1 * 4 + 3); /* not DW_LNS_fixed_advance_pc's neighbour: 1 operation, +2 */
	op_uleb(&program, DW_LNS_advance_pc, 3);
	end_sequence(&program);
	*table = run(&program);
	expect_row(table, 0, 0x2002, 1, 3);
	expect_end(table, 1, 0x2008);
}

static void operations_of_long_instructions_are_counted(void **state)
{
	const struct head head = {4, 4, 4, 3, 13, -5, 14};
	struct program program;
	struct line_table *table = *state;

	begin(&program, &head);
	files_of_4(&program);
	set_address(&program, 0x2000);
	op(&program, DW_LNS_copy);
	op_uleb(&program, DW_LNS_advance_pc, 2); /* still the same instruction */
	special(&program, 2, 1);                 /* operation 4: one instruction on */
	op_uleb(&program, DW_LNS_advance_pc, 2);
	end_sequence(&program);
	*table = run(&program);
	assert_int_equal(table->n_rows, 3);
	expect_row(table, 0, 0x2000, 1, 1);
	expect_row(table, 1, 0x2004, 1, 2);
	expect_end(table, 2, 0x2008);
}

static void of_rows_at_one_address_the_last_wins(void **state)
{
	struct program program;
	struct line_table *table = *state;

	begin_4(&program);
	set_address(&program, 0x2000);
	special(&program, 0, 1);
	special(&program, 0, 1);
	special(&program, 4, 1);
	special(&program, 4, 1);
	special(&program, 0, 1);
	end_sequence(&program); /* at the address of the last: that one has no code */
	*table = run(&program);
	assert_int_equal(table->n_rows, 3);
	expect_row(table, 0, 0x2000, 1, 3);
	expect_row(table, 1, 0x2004, 1, 4);
	expect_end(table, 2, 0x2008);
	assert_int_equal(line_table_find(table, 0x1fff), table->n_rows);
	assert_int_equal(line_table_find(table, 0x2003), 0);
	assert_int_equal(line_table_find(table, 0x2004), 1);
	assert_int_equal(line_table_find(table, UINT64_MAX), 2);
}

static void sequences_come_in_order_of_addresses(void **state)
{
	struct program program;
	struct line_table *table = *state;

	begin_4(&program);
	sequence_at(&program, 0x3000, 30);
	sequence_at(&program, 0x2000, 20);
	sequence_at(&program, 0x2010, 40); /* begins where the one before it ends */
	*table = run(&program);
	assert_int_equal(table->n_rows, 8);
	expect_row(table, 0, 0x2000, 1, 20);
	expect_row(table, 1, 0x2008, 1, 21);
	expect_row(table, 2, 0x2010, 1, 40);
	expect_end(table, 4, 0x2020);
	expect_row(table, 5, 0x3000, 1, 30);
	expect_end(table, 7, 0x3010);
}

static void where_sequences_overlap_the_first_keeps_its_rows(void **state)
{
	struct program program;
	struct line_table *table = *state;

	begin_4(&program);
	sequence_at(&program, 0x200c, 50); /* its first row is cut */
	sequence_at(&program, 0x2000, 20);
	sequence_at(&program, 0x2000, 30); /* the same code again: folded */
	*table = run(&program);
	assert_int_equal(table->n_rows, 5);
	expect_row(table, 0, 0x2000, 1, 20);
	expect_row(table, 1, 0x2008, 1, 21);
	expect_row(table, 2, 0x2010, 1, 50);
	expect_row(table, 3, 0x2014, 1, 51);
	expect_end(table, 4, 0x201c);
}

static void code_that_was_thrown_away_has_no_rows(void **state)
{
	struct program program;
	struct line_table *table = *state;

	begin_4(&program);
	sequence_at(&program, 0, 1);
	sequence_at(&program, 1, 1);
	sequence_at(&program, UINT64_MAX, 1);
	sequence_at(&program, UINT64_MAX - 1, 1);
	sequence_at(&program, 0x100000, 1); /* data */
	sequence_at(&program, 0x2000, 20);
	*table = run(&program);
	assert_int_equal(table->n_rows, 3);
	expect_row(table, 0, 0x2000, 1, 20);
}

static void addresses_that_go_down_are_put_in_order(void **state)
{
	struct program program;
	struct line_table *table = *state;

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
	*table = run(&program);
	assert_int_equal(table->n_rows, 4);
	expect_row(table, 0, 0x2000, 1, 5);
	expect_row(table, 1, 0x2010, 1, 4);
	expect_row(table, 2, 0x2020, 1, 2);
	expect_end(table, 3, 0x2030);
}

static void a_sequence_without_an_end_is_none(void **state)
{
	struct program program;
	struct line_table *table = *state;

	begin_4(&program);
	sequence_at(&program, 0x2000, 20);
	set_address(&program, 0x3000);
	special(&program, 0, 1);
	special(&program, 1, 1);
	*table = run(&program);
	assert_int_equal(table->n_rows, 3);
}

static void a_program_of_many_rows_is_taken_whole(void **state)
{
	struct program program;
	struct line_table *table = *state;

	begin_4(&program);
	set_address(&program, 0x2000);
	for (int i = 0; i < 3000; i++)
		special(&program, 1, 1);
	op_uleb(&program, DW_LNS_advance_pc, 1);
	end_sequence(&program);
	*table = run(&program);
	assert_int_equal(table->n_rows, 3001);
	expect_row(table, 2999, 0x2000 + 3000, 1, 3001);
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

STATE_FIXTURE(line_table, table, line_table_release(table))

int main(void)
{
	const struct CMUnitTest tests[] = {
		own_test(every_standard_opcode_moves_its_register),
		own_test(unknown_opcodes_are_passed_over_by_their_lengths),
		own_test(opcodes_above_a_small_base_are_special),
		own_test(operations_of_long_instructions_are_counted),
		own_test(of_rows_at_one_address_the_last_wins),
		own_test(sequences_come_in_order_of_addresses),
		own_test(where_sequences_overlap_the_first_keeps_its_rows),
		own_test(code_that_was_thrown_away_has_no_rows),
		own_test(addresses_that_go_down_are_put_in_order),
		own_test(a_sequence_without_an_end_is_none),
		own_test(a_program_of_many_rows_is_taken_whole),
		cmocka_unit_test(a_unit_without_a_program_has_no_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
