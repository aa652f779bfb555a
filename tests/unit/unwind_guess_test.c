/* unwind_guess_test.c - leaving code that no FDE covers */
#include "sampler/unwind/walk.h"
#include "tests/unit/unwind_image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum {
	SIZE = 0x100,
	MAX = 64,
};

#define CALLER (CODE + 0x000) /* CFA = sp + 32 */
#define ROOT   (CODE + 0x100)
#define BYBP   (CODE + 0x200) /* CFA = bp + 16 */
#define BARE   (CODE + 0x400) /* no FDE from here on */

#define OTHER_STACK (MODULE + 0xd000)

static struct image image;
static uint64_t pcs[MAX];

static int make_image(void **state)
{
	static const unsigned char usual_cie[] = {USUAL_CIE};
	static const unsigned char caller[] = {0x0e, 32};
	static const unsigned char root[] = {0x07, 16};
	static const unsigned char by_bp[] = {0x0c, 6, 16, 0x86, 2};

	(void)state;
	image_init(&image);
	image_cie(&image, "zR", usual_cie, sizeof(usual_cie));
	(void)image_fde(&image, CALLER, SIZE, caller, sizeof(caller));
	(void)image_fde(&image, ROOT, SIZE, root, sizeof(root));
	(void)image_fde(&image, BYBP, SIZE, by_bp, sizeof(by_bp));
	image_table(&image);
	image_call(&image, CALLER + 0x20, BARE);
	image_call(&image, CALLER + 0x40, ROOT);
	image_call(&image, ROOT + 0x20, CALLER);
	image_call(&image, BYBP + 0x20, BARE);
	image_call(&image, BARE + 0x20, BARE + 0x80);
	return 0;
}

static struct unwind_result walk(struct unwind_regs regs)
{
	memset(pcs, 0, sizeof(pcs));
	return unwind_walk(&image.reader, NULL, &regs, pcs, MAX);
}

static void put(uint64_t address, uint64_t value)
{
	*image_word(&image, address) = value;
}

static void leaves_a_leaf_by_what_lies_on_top(void **state)
{
	struct unwind_result result;

	(void)state;
	put(STACK, CALLER + 0x20);
	put(STACK + 8 + 24, ROOT + 0x20);
	result = walk((struct unwind_regs){.pc = BARE + 4, .sp = STACK});
	assert_int_equal(result.stop, UNWIND_END);
	assert_int_equal(result.n_pcs, 3);
	assert_int_equal(pcs[1], CALLER + 0x20);
	assert_int_equal(pcs[2], ROOT + 0x20);
}

static void takes_no_address_that_no_call_left(void **state)
{
	(void)state;
	put(STACK, CALLER + 0x21);
	put(STACK + 8 + 24, ROOT + 0x20);
	assert_int_equal(walk((struct unwind_regs){.pc = BARE + 4, .sp = STACK}).stop,
			 UNWIND_NO_CFI);
}

static void leaves_a_leaf_that_has_just_pushed_bp(void **state)
{
	(void)state;
	put(STACK, STACK + 0x100);
	put(STACK + 8, CALLER + 0x20);
	put(STACK + 16 + 24, ROOT + 0x20);
	(void)walk((struct unwind_regs){.pc = BARE + 1, .sp = STACK, .bp = STACK + 0x100});
	assert_int_equal(pcs[1], CALLER + 0x20);
	assert_int_equal(pcs[2], ROOT + 0x20);
}

static void follows_frame_pointers_where_there_is_nothing_else(void **state)
{
	(void)state;
	put(STACK + 0x40, STACK + 0x80);
	put(STACK + 0x48, BARE + 0x20);
	put(STACK + 0x80, 0);
	put(STACK + 0x88, ROOT + 0x20);
	assert_int_equal(
		walk((struct unwind_regs){.pc = BARE + 0x84, .sp = STACK, .bp = STACK + 0x40}).stop,
		UNWIND_END);
	assert_int_equal(pcs[1], BARE + 0x20);
	assert_int_equal(pcs[2], ROOT + 0x20);
}

static void finds_the_return_address_above_a_frame_of_assembly(void **state)
{
	(void)state;
	/* left over from a call that has returned: its frame does not go on */
	put(STACK + 0x40, CALLER + 0x20);
	put(STACK + 0x200, CALLER + 0x20);
	put(STACK + 0x208 + 24, ROOT + 0x20);
	assert_int_equal(walk((struct unwind_regs){.pc = BARE + 4, .sp = STACK, .bp = 77}).stop,
			 UNWIND_END);
	assert_int_equal(pcs[1], CALLER + 0x20);
	assert_int_equal(pcs[2], ROOT + 0x20);
}

static void leaves_out_where_a_guess_went_astray(void **state)
{
	struct unwind_result result;

	(void)state;
	put(STACK, CALLER + 0x20);
	put(STACK + 8 + 24, CALLER + 0x40);
	put(STACK + 8 + 56, STACK + 0x300); /* data, where a return address should be */
	result = walk((struct unwind_regs){.pc = BARE + 4, .sp = STACK});
	assert_int_equal(result.stop, UNWIND_NO_CFI);
	assert_int_equal(result.n_pcs, 3);
	/* what CFI alone led to stays: there it is the CFI's word alone */
	result = walk((struct unwind_regs){.pc = CALLER + 0x20, .sp = STACK + 8});
	assert_int_equal(result.stop, UNWIND_NO_CFI);
	assert_int_equal(result.n_pcs, 3);
	assert_int_equal(pcs[2], STACK + 0x300);
}

/* The word was left by another call; above it the stack goes on. */
static void goes_on_behind_where_a_guess_went_astray(void **state)
{
	struct unwind_result result;

	(void)state;
	put(STACK, CALLER + 0x20);
	put(STACK + 8 + 24, CALLER + 0x40);
	put(STACK + 8 + 56, STACK + 0x300);
	put(STACK + 8 + 88, CALLER + 0x20);
	put(STACK + 8 + 88 + 32, ROOT + 0x20);
	result = walk((struct unwind_regs){.pc = BARE + 4, .sp = STACK});
	assert_int_equal(result.stop, UNWIND_END);
	assert_int_equal(result.n_pcs, 5);
	assert_int_equal(pcs[2], CALLER + 0x40);
	assert_int_equal(pcs[3], CALLER + 0x20);
	assert_int_equal(pcs[4], ROOT + 0x20);
}

static void takes_a_call_of_this_code_before_one_of_other_code(void **state)
{
	(void)state;
	put(STACK + 0x40, CALLER + 0x40); /* called ROOT, directly */
	put(STACK + 0x48 + 24, ROOT + 0x20);
	put(STACK + 0x200, CALLER + 0x20);
	put(STACK + 0x208 + 24, ROOT + 0x20);
	(void)walk((struct unwind_regs){.pc = BARE + 4, .sp = STACK});
	assert_int_equal(pcs[1], CALLER + 0x20);
}

static void finds_the_bp_that_assembly_pushed(void **state)
{
	uint64_t bp = STACK + 0x300;

	(void)state;
	put(STACK + 0x1f8, bp);
	put(STACK + 0x200, BYBP + 0x20);
	put(bp, 0);
	put(bp + 8, ROOT + 0x20);
	assert_int_equal(walk((struct unwind_regs){.pc = BARE + 4, .sp = STACK, .bp = 77}).stop,
			 UNWIND_END);
	assert_int_equal(pcs[1], BYBP + 0x20);
	assert_int_equal(pcs[2], ROOT + 0x20);
}

static void knows_a_trampoline_by_its_code(void **state)
{
	static const unsigned char code[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
	uint64_t uc = STACK + 0x100;

	(void)state;
	memcpy(image.bytes + (BARE + 0x100 - MODULE), code, sizeof(code));
	put(uc - 8, BARE + 0x100);
	put(uc + 160, STACK + 0x800);
	put(uc + 168, ROOT + 4);
	/* in the handler, at CALLER */
	(void)walk((struct unwind_regs){.pc = CALLER, .sp = uc - 32});
	assert_int_equal(pcs[1], BARE + 0x100);
	assert_true(pcs[2] == ((ROOT + 4) | UNWIND_EXACT));
}

/* From BARE on it is code made at run time. */
static bool find_file(struct unwind_reader *reader, uint64_t pc, struct unwind_module *ret_module)
{
	(void)reader;
	*ret_module = image_module();
	return pc >= MODULE && pc < BARE;
}

static void put_elsewhere(uint64_t address, uint64_t value)
{
	memcpy(image.bytes + (address - MODULE), &value, sizeof(value));
}

static void ends_where_generated_code_returns_to_code_without_a_call(void **state)
{
	struct unwind_regs regs = {.pc = BARE + 0x84, .sp = STACK, .bp = STACK + 0x40};

	(void)state;
	put(STACK + 0x40, STACK + 0x80);
	put(STACK + 0x48, BARE + 0x20);
	put(STACK + 0x80, 0);
	put(STACK + 0x88, BARE + 0x60);
	/* left over: this walk is not to find it */
	put(STACK + 0x200, CALLER + 0x20);
	put(STACK + 0x208 + 24, ROOT + 0x20);
	image.reader.find = find_file;
	assert_int_equal(walk(regs).stop, UNWIND_END);
	assert_int_equal(walk(regs).n_pcs, 2);
	/* a bp that is not 0 says nothing, nor does one of 0 in code of a file */
	put(STACK + 0x80, 8);
	assert_int_equal(walk(regs).n_pcs, 4);
	put(STACK + 0x80, 0);
	image.reader.find = image_find;
	assert_int_equal(walk(regs).n_pcs, 4);
}

static void goes_on_on_the_stack_of_made_code_that_called_c(void **state)
{
	uint64_t bp = OTHER_STACK + 0x40;
	struct unwind_regs regs = {.pc = CALLER, .sp = STACK, .bp = bp};

	(void)state;
	put(STACK + 24, BARE + 0x84); /* C has been called from there */
	put_elsewhere(bp, bp + 0x40);
	put_elsewhere(bp + 8, BARE + 0x20);
	put_elsewhere(bp + 0x40, 0);
	put_elsewhere(bp + 0x48, BARE + 0x60);
	image.reader.find = find_file;
	assert_int_equal(walk(regs).stop, UNWIND_END);
	assert_int_equal(walk(regs).n_pcs, 3);
	assert_int_equal(pcs[1], BARE + 0x84);
	assert_int_equal(pcs[2], BARE + 0x20);
	/* how much of the thread's own stack was used */
	assert_int_equal(walk(regs).cfa, STACK + 32);
	image.reader.find = image_find;
	assert_int_equal(walk(regs).stop, UNWIND_NO_CFI);
}

static void ends_although_two_stacks_lead_to_each_other(void **state)
{
	uint64_t low = OTHER_STACK + 0x40;
	uint64_t high = OTHER_STACK + 0x400;
	struct unwind_regs regs = {.pc = BARE + 0x84, .sp = low, .bp = high};

	(void)state;
	put_elsewhere(high, low);
	put_elsewhere(high + 8, CALLER + 0x20);
	put_elsewhere(high + 16 + 24, BARE + 0x84);
	put_elsewhere(low, high);
	put_elsewhere(low + 8, BARE + 0x84);
	put_elsewhere(BARE + 0x84 - 8, UINT64_C(0xd0ff) << 48); /* call *%rax */
	image.reader.find = find_file;
	image.reader.lo = 0;
	image.reader.hi = 0;
	assert_int_equal(walk(regs).stop, UNWIND_NO_CFI);
	assert_in_range(walk(regs).n_pcs, WALK_DESCENTS, MAX - 1);
}

static void finds_the_caller_of_a_loop_with_a_large_frame_in_made_code(void **state)
{
	struct unwind_regs regs = {.pc = BARE + 0x84, .sp = STACK, .bp = 77};

	(void)state;
	put(STACK + 0x1800, CALLER + 0x20);
	put(STACK + 0x1808 + 24, ROOT + 0x20);
	assert_int_equal(walk(regs).stop, UNWIND_NO_CFI);
	image.reader.find = find_file;
	assert_int_equal(walk(regs).stop, UNWIND_END);
	assert_int_equal(pcs[1], CALLER + 0x20);
}

static void put_first_stack(uint64_t sp, uint64_t page_size)
{
	const uint64_t words[] = {2,  sp + 0x200, sp + 0x208, 0,         sp + 0x210, 0,
				  33, 0x7000,     6,          page_size, 0,          0};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		put(sp + 8 * i, words[i]);
}

static void ends_on_the_stack_that_exec_left(void **state)
{
	(void)state;
	put_first_stack(STACK, 4096);
	assert_int_equal(walk((struct unwind_regs){.pc = BARE + 4, .sp = STACK}).stop, UNWIND_END);
	/* the entry of a program has aligned sp, and passes on two words */
	put_first_stack(STACK + 16, 4096);
	assert_int_equal(walk((struct unwind_regs){.pc = BARE + 4, .sp = STACK}).stop, UNWIND_END);
	put_first_stack(STACK, 5);
	put_first_stack(STACK + 16, 5);
	assert_int_equal(walk((struct unwind_regs){.pc = BARE + 4, .sp = STACK}).stop,
			 UNWIND_NO_CFI);
}

static void ends_in_a_thread_that_has_just_begun(void **state)
{
	uint64_t saved = STACK + 0x800;
	struct unwind_regs regs = {.pc = BARE + 0x44, .sp = STACK, .saved = saved};

	(void)state;
	image.bytes[BARE + 0x42 - MODULE] = 0x0f;
	image.bytes[BARE + 0x43 - MODULE] = 0x05;
	assert_int_equal(walk(regs).stop, UNWIND_END);
	put(saved + 8 * 13, 1234); /* the parent has the child's number there */
	assert_int_equal(walk(regs).stop, UNWIND_NO_CFI);
}

static void knows_calls_by_their_bytes(void **state)
{
	static const struct {
		unsigned char before[ARCH_CALL_BYTES];
		bool call;
	} cases[] = {
		{{0, 0, 0, 0xe8, 0, 1, 0, 0}, true},       /* call rel32 */
		{{0, 0, 0, 0, 0, 0, 0xff, 0xd0}, true},    /* call *%rax */
		{{0, 0, 0, 0, 0, 0, 0xff, 0x10}, true},    /* call *(%rax) */
		{{0, 0, 0, 0, 0, 0xff, 0x50, 8}, true},    /* call *8(%rax) */
		{{0, 0, 0, 0, 0xff, 0x54, 0x24, 8}, true}, /* call *8(%rsp) */
		{{0, 0, 0, 0, 0, 0xff, 0x14, 0xc8}, true}, /* call *(%rax,%rcx,8) */
		{{0, 0, 0xff, 0x15, 1, 2, 3, 4}, true},    /* call *rel(%rip) */
		{{0, 0, 0xff, 0x90, 1, 2, 3, 4}, true},    /* call *disp32(%rax) */
		{{0, 0xff, 0x94, 0x24, 1, 2, 3, 4}, true}, /* call *disp32(%rsp) */
		{{0, 0xff, 0x14, 0xc5, 1, 2, 3, 4}, true}, /* call *disp32(,%rax,8) */
		{{0, 0, 0, 0, 0, 0, 0xff, 0xe0}, false},   /* jmp *%rax */
		{{0, 0, 0, 0, 0, 0xff, 0x10, 8}, false},
		{{0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90}, false},
	};
	uint64_t target;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (arch_follows_call(cases[i].before, CODE, &target) != cases[i].call)
			fail_msg("case %zu", i);
	assert_true(arch_follows_call(cases[0].before, CODE, &target));
	assert_int_equal(target, CODE + 0x100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(leaves_a_leaf_by_what_lies_on_top, make_image),
		cmocka_unit_test_setup(takes_no_address_that_no_call_left, make_image),
		cmocka_unit_test_setup(leaves_a_leaf_that_has_just_pushed_bp, make_image),
		cmocka_unit_test_setup(follows_frame_pointers_where_there_is_nothing_else,
				       make_image),
		cmocka_unit_test_setup(leaves_out_where_a_guess_went_astray, make_image),
		cmocka_unit_test_setup(goes_on_behind_where_a_guess_went_astray, make_image),
		cmocka_unit_test_setup(finds_the_return_address_above_a_frame_of_assembly,
				       make_image),
		cmocka_unit_test_setup(takes_a_call_of_this_code_before_one_of_other_code,
				       make_image),
		cmocka_unit_test_setup(finds_the_bp_that_assembly_pushed, make_image),
		cmocka_unit_test_setup(knows_a_trampoline_by_its_code, make_image),
		cmocka_unit_test_setup(ends_where_generated_code_returns_to_code_without_a_call,
				       make_image),
		cmocka_unit_test_setup(goes_on_on_the_stack_of_made_code_that_called_c, make_image),
		cmocka_unit_test_setup(ends_although_two_stacks_lead_to_each_other, make_image),
		cmocka_unit_test_setup(finds_the_caller_of_a_loop_with_a_large_frame_in_made_code,
				       make_image),
		cmocka_unit_test_setup(ends_on_the_stack_that_exec_left, make_image),
		cmocka_unit_test_setup(ends_in_a_thread_that_has_just_begun, make_image),
		cmocka_unit_test(knows_calls_by_their_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
