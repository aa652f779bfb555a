/* unwind_row_test.c - call frame instructions, one by one, and CFI that lies */
#include "sampler/unwind/cfi.h"
#include "tests/unit/unwind_image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { SIZE = 0x100 };

static const unsigned char usual_cie[] = {USUAL_CIE};
static struct image image;

struct expectation {
	const char *what;
	unsigned char ops[24];
	size_t n;
	uint64_t pc; /* offset in the function */
	struct cfi_row row;
};

#define OPS(...)        {__VA_ARGS__}, sizeof((unsigned char[]){__VA_ARGS__})
#define CFA(reg, value) .cfa_reg = (reg), .cfa_value = (value), .regs[CFI_PC] = {-8, CFI_OFFSET}
#define BP(value, kind) .regs[CFI_BP] = {(value), (kind)}
#define BX(value, kind) .regs[CFI_BX] = {(value), (kind)}

static const struct expectation expectations[] = {
	{"nop", OPS(0x00), 0, {CFA(7, 8)}},
	{"advance_loc not reached", OPS(0x41, 0x0e, 16), 0, {CFA(7, 8)}},
	{"advance_loc reached", OPS(0x41, 0x0e, 16), 1, {CFA(7, 16)}},
	{"advance_loc1", OPS(0x02, 0x80, 0x0e, 16), 0x80, {CFA(7, 16)}},
	{"advance_loc1 not reached", OPS(0x02, 0x80, 0x0e, 16), 0x7f, {CFA(7, 8)}},
	{"advance_loc2", OPS(0x03, 0x80, 0x00, 0x0e, 16), 0x80, {CFA(7, 16)}},
	{"advance_loc4", OPS(0x04, 2, 0, 0, 0, 0x0e, 16), 2, {CFA(7, 16)}},
	{"advance_loc8", OPS(0x1d, 2, 0, 0, 0, 0, 0, 0, 0, 0x0e, 16), 2, {CFA(7, 16)}},
	{"advance_loc4 far away", OPS(0x04, 255, 255, 255, 255, 0x0e, 16), 9, {CFA(7, 8)}},
	{"def_cfa", OPS(0x0c, 6, 16), 0, {CFA(6, 16)}},
	{"def_cfa_sf", OPS(0x12, 6, 0x7e), 0, {CFA(6, 16)}},
	{"def_cfa_register", OPS(0x0d, 6), 0, {CFA(6, 8)}},
	{"def_cfa_offset of two bytes", OPS(0x0e, 0x90, 0x01), 0, {CFA(7, 144)}},
	{"def_cfa_offset_sf", OPS(0x13, 0x7c), 0, {CFA(7, 32)}},
	{"offset", OPS(0x86, 2), 0, {CFA(7, 8), BP(-16, CFI_OFFSET)}},
	{"offset_extended", OPS(0x05, 3, 3), 0, {CFA(7, 8), BX(-24, CFI_OFFSET)}},
	{"offset_extended_sf", OPS(0x11, 6, 0x7e), 0, {CFA(7, 8), BP(16, CFI_OFFSET)}},
	{"negative_offset_extended", OPS(0x2f, 6, 2), 0, {CFA(7, 8), BP(16, CFI_OFFSET)}},
	{"offset of r12, which is not followed", OPS(0x8c, 2), 0, {CFA(7, 8)}},
	{"restore", OPS(0x86, 2, 0xc6), 0, {CFA(7, 8)}},
	{"restore_extended", OPS(0x86, 2, 0x06, 6), 0, {CFA(7, 8)}},
	{"undefined", OPS(0x86, 2, 0x07, 6), 0, {CFA(7, 8), BP(0, CFI_UNDEFINED)}},
	{"same_value", OPS(0x86, 2, 0x08, 6), 0, {CFA(7, 8)}},
	{"register", OPS(0x09, 6, 12), 0, {CFA(7, 8), BP(12, CFI_REGISTER)}},
	{"val_offset", OPS(0x14, 6, 2), 0, {CFA(7, 8), BP(-16, CFI_VAL_OFFSET)}},
	{"val_offset_sf", OPS(0x15, 6, 0x7e), 0, {CFA(7, 8), BP(16, CFI_VAL_OFFSET)}},
	{"remember and restore state",
	 OPS(0x0a, 0x0e, 32, 0x86, 2, 0x41, 0x0b),
	 0,
	 {CFA(7, 32), BP(-16, CFI_OFFSET)}},
	{"restored state", OPS(0x0a, 0x0e, 32, 0x86, 2, 0x41, 0x0b), 1, {CFA(7, 8)}},
	{"GNU_args_size", OPS(0x2e, 0x90, 0x01, 0x0e, 16), 0, {CFA(7, 16)}},
};

static enum cfi_status row_of(const unsigned char *ops, size_t n, uint64_t pc, struct cfi_row *row)
{
	struct unwind_module module = image_module();
	enum cfi_status status;
	struct cfi_fde fde;

	image_init(&image);
	image_cie(&image, "zR", usual_cie, sizeof(usual_cie));
	(void)image_fde(&image, CODE, SIZE, ops, n);
	image_table(&image);
	status = cfi_find(&image.reader, &module, CODE + pc, &fde);
	if (status == CFI_FOUND)
		status = cfi_row_at(&image.reader, &module, &fde, CODE + pc, row);
	return status;
}

static void gives_the_row_that_each_instruction_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(expectations) / sizeof(expectations[0]); i++) {
		const struct expectation *e = &expectations[i];
		struct cfi_row row = {0};
		enum cfi_status status = row_of(e->ops, e->n, e->pc, &row);

		if (status != CFI_FOUND)
			fail_msg("%s: status %d", e->what, status);
		if (row.cfa_reg != e->row.cfa_reg || row.cfa_value != e->row.cfa_value)
			fail_msg("%s: CFA is %d + %d", e->what, row.cfa_reg, row.cfa_value);
		for (int j = 0; j < CFI_N_TRACKED; j++)
			if (row.regs[j].how != e->row.regs[j].how ||
			    row.regs[j].value != e->row.regs[j].value)
				fail_msg("%s: register %d", e->what, j);
	}
}

#define REFUSES(...)                                                                               \
	do {                                                                                       \
		const unsigned char ops_[] = {__VA_ARGS__};                                        \
		struct cfi_row row_;                                                               \
                                                                                                   \
		assert_int_equal(row_of(ops_, sizeof(ops_), 0, &row_), CFI_BAD);                   \
	} while (0)

static void refuses_instructions_it_does_not_know(void **state)
{
	(void)state;
	REFUSES(0x2d);
	REFUSES(0x17);
	REFUSES(0x3f);
}

static void refuses_a_restore_without_a_remember(void **state)
{
	(void)state;
	REFUSES(0x0b);
}

static void remembers_eight_states_and_refuses_the_ninth(void **state)
{
	unsigned char ops[9] = {0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a};
	struct cfi_row row;

	(void)state;
	assert_int_equal(row_of(ops, 8, 0, &row), CFI_FOUND);
	assert_int_equal(row_of(ops, 9, 0, &row), CFI_BAD);
}

static void refuses_numbers_that_do_not_fit(void **state)
{
	(void)state;
	/* 2^35, ten bytes of ones, a factored offset over 31 bits, a register of 200 */
	REFUSES(0x0e, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01);
	REFUSES(0x0e, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1);
	REFUSES(0x86, 0xff, 0xff, 0xff, 0xff, 0x07);
	REFUSES(0x0d, 0xc8, 0x01);
}

static void refuses_an_offset_to_an_expression(void **state)
{
	(void)state;
	REFUSES(0x0f, 2, 0x77, 8, 0x0e, 16);
}

static void refuses_operands_cut_off(void **state)
{
	(void)state;
	/* an expression that claims to go on past its FDE; a LEB128 that never ends */
	REFUSES(0x0f, 0x7f, 0x77, 8);
	REFUSES(0x0e, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
		0x80, 0x80);
}

static void refuses_lengths_that_lie(void **state)
{
	static const uint32_t lengths[] = {0, 3, 8, IMAGE_SIZE, 0x7fffffff, 0xfffffffe, 0xffffffff};
	struct unwind_module module = image_module();
	struct cfi_fde fde;
	size_t at;

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		image_init(&image);
		image_cie(&image, "zR", usual_cie, sizeof(usual_cie));
		at = image_fde(&image, CODE, SIZE, usual_cie, sizeof(usual_cie));
		image_table(&image);
		image_put(&image, at, lengths[i]);
		assert_int_equal(cfi_find(&image.reader, &module, CODE, &fde), CFI_BAD);
	}
}

static void refuses_a_cie_outside_the_module(void **state)
{
	struct unwind_module module = image_module();
	struct cfi_fde fde;
	size_t at;

	(void)state;
	image_init(&image);
	image_cie(&image, "zR", usual_cie, sizeof(usual_cie));
	at = image_fde(&image, CODE, SIZE, usual_cie, sizeof(usual_cie));
	image_table(&image);
	image_put(&image, at + 4, 0x10000000);
	assert_int_equal(cfi_find(&image.reader, &module, CODE, &fde), CFI_BAD);
	image_put(&image, at + 4, 4); /* itself */
	assert_int_equal(cfi_find(&image.reader, &module, CODE, &fde), CFI_BAD);
}

static void refuses_a_table_longer_than_its_module(void **state)
{
	struct unwind_module module = image_module();
	struct cfi_fde fde;

	(void)state;
	image_init(&image);
	image_table(&image);
	image_put(&image, IMAGE_HDR + 8, 0xffffffff);
	assert_int_equal(cfi_find(&image.reader, &module, CODE, &fde), CFI_BAD);
}

static void make_three_functions(void)
{
	image_init(&image);
	image_cie(&image, "zR", usual_cie, sizeof(usual_cie));
	for (unsigned i = 0; i < 3; i++)
		(void)image_fde(&image, CODE + 0x100 * i, 0x80, usual_cie, sizeof(usual_cie));
	image_table(&image);
}

static void check_three_functions(void)
{
	struct unwind_module module = image_module();
	struct cfi_fde fde;

	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(cfi_find(&image.reader, &module, CODE + 0x100 * i + 0x7f, &fde),
				 CFI_FOUND);
		assert_int_equal(fde.begin, CODE + 0x100 * i);
		assert_int_equal(cfi_find(&image.reader, &module, CODE + 0x100 * i + 0x80, &fde),
				 CFI_NONE);
	}
	assert_int_equal(cfi_find(&image.reader, &module, CODE - 1, &fde), CFI_NONE);
}

static void finds_a_function_by_the_table(void **state)
{
	(void)state;
	make_three_functions();
	check_three_functions();
}

static void finds_a_function_without_a_table(void **state)
{
	(void)state;
	make_three_functions();
	image.bytes[IMAGE_HDR + 2] = 0xff;
	image.bytes[IMAGE_HDR + 3] = 0xff;
	check_three_functions();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_the_row_that_each_instruction_says),
		cmocka_unit_test(refuses_instructions_it_does_not_know),
		cmocka_unit_test(refuses_a_restore_without_a_remember),
		cmocka_unit_test(remembers_eight_states_and_refuses_the_ninth),
		cmocka_unit_test(refuses_numbers_that_do_not_fit),
		cmocka_unit_test(refuses_an_offset_to_an_expression),
		cmocka_unit_test(refuses_operands_cut_off),
		cmocka_unit_test(refuses_lengths_that_lie),
		cmocka_unit_test(refuses_a_cie_outside_the_module),
		cmocka_unit_test(refuses_a_table_longer_than_its_module),
		cmocka_unit_test(finds_a_function_by_the_table),
		cmocka_unit_test(finds_a_function_without_a_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
