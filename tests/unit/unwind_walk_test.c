/* unwind_walk_test.c - steps from frame to frame, and stacks that lie */
#include "sampler/unwind/rule.h"
#include "tests/unit/unwind_image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum {
	SIZE = 0x100,
	MAX = 64,
	N_ENTRIES = 64,
};

/* Functions of the image, in the order of make_image(). */
#define LEAF  (CODE + 0x000) /* CFA = sp + 8 */
#define PUSH  (CODE + 0x100) /* CFA = sp + 32, bp at CFA - 16, bx at CFA - 24 */
#define FRAME (CODE + 0x200) /* CFA = bp + 16, bp at CFA - 16 */
#define ROOT  (CODE + 0x300) /* return address undefined */
#define PLT   (CODE + 0x400)
#define DRAP  (CODE + 0x500) /* CFA = the word at bp - 8, bp at bp, bx at bp - 16 */
#define BYBX  (CODE + 0x600) /* CFA = bx + 16 */
#define BYR10 (CODE + 0x700) /* CFA = r10 */
#define DEREF (CODE + 0x800) /* CFA = the word at sp + 16, plus 8 */
#define WRONG (CODE + 0x900) /* cannot be decoded */
#define HUGE  (CODE + 0xa00) /* CFA = sp + 2^30 */
#define TRAMP (CODE + 0xb80) /* signal trampoline */
#define BARE  (CODE + 0xd00) /* no FDE at all */

static struct image image;
static struct unwind_cache_entry entries[N_ENTRIES];
static struct unwind_cache cache = {.entries = entries, .n = N_ENTRIES};
static uint64_t pcs[MAX];

#define FUNCTION(at, ...)                                                                          \
	do {                                                                                       \
		const unsigned char ops_[] = {__VA_ARGS__};                                        \
                                                                                                   \
		(void)image_fde(&image, at, SIZE, ops_, sizeof(ops_));                             \
	} while (0)

static int make_image(void **state)
{
	static const unsigned char usual_cie[] = {USUAL_CIE};
	/* sp from ucontext + 160, and bp, bx and pc from 120, 128 and 168 */
	static const unsigned char signal_ops[] = {
		0x0f, 4, 0x77, 0xa0, 0x01, 0x06, 0x10, 6,    3, 0x77, 0xf8, 0x00,
		0x10, 3, 3,    0x77, 0x80, 0x01, 0x10, 0x10, 3, 0x77, 0xa8, 0x01,
	};

	(void)state;
	image_init(&image);
	image_cie(&image, "zR", usual_cie, sizeof(usual_cie));
	FUNCTION(LEAF, 0);
	FUNCTION(PUSH, 0x0e, 32, 0x86, 2, 0x83, 3);
	FUNCTION(FRAME, 0x0c, 6, 16, 0x86, 2);
	FUNCTION(ROOT, 0x07, 16);
	FUNCTION(PLT, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22);
	FUNCTION(DRAP, 0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0, 0x10, 3, 2, 0x76, 0x70);
	FUNCTION(BYBX, 0x0c, 3, 16);
	FUNCTION(BYR10, 0x0c, 10, 0);
	FUNCTION(DEREF, 0x0f, 5, 0x77, 16, 0x06, 0x23, 8);
	FUNCTION(WRONG, 0x3f);
	FUNCTION(HUGE, 0x0e, 0x80, 0x80, 0x80, 0x80, 0x04);
	image_cie(&image, "zRS", usual_cie, sizeof(usual_cie));
	(void)image_fde(&image, TRAMP, SIZE, signal_ops, sizeof(signal_ops));
	image_table(&image);
	unwind_cache_flush(&cache);
	return 0;
}

static struct unwind_result walk(struct unwind_regs regs)
{
	return unwind_walk(&image.reader, &cache, &regs, pcs, MAX);
}

static void put(uint64_t address, uint64_t value)
{
	*image_word(&image, address) = value;
}

static void walks_to_the_root(void **state)
{
	struct unwind_result result;

	(void)state;
	put(STACK, PUSH + 5);
	put(STACK + 8 + 24, ROOT + 5);
	result = walk((struct unwind_regs){.pc = LEAF, .sp = STACK});
	assert_int_equal(result.n_pcs, 3);
	assert_int_equal(result.stop, UNWIND_END);
	assert_true(pcs[0] == (LEAF | UNWIND_EXACT));
	assert_int_equal(pcs[1], PUSH + 5);
	assert_int_equal(pcs[2], ROOT + 5);
	assert_int_equal(result.cfa, STACK + 8 + 32);
}

static void ends_at_a_return_address_of_0(void **state)
{
	struct unwind_result result;

	(void)state;
	result = walk((struct unwind_regs){.pc = LEAF, .sp = STACK});
	assert_int_equal(result.n_pcs, 1);
	assert_int_equal(result.stop, UNWIND_END);
}

static void restores_bp_and_bx(void **state)
{
	uint64_t frame = STACK + 0x200;
	uint64_t bx = STACK + 0x300;

	(void)state;
	put(STACK + 24, BYBX + 5); /* called PUSH, which saved bx = frame - 16 */
	put(STACK + 16, bx);
	put(STACK + 8, frame - 16);
	put(frame - 8, FRAME + 5);
	put(bx + 8, ROOT + 5);
	put(bx, 7);
	assert_int_equal(walk((struct unwind_regs){.pc = PUSH, .sp = STACK}).stop, UNWIND_END);
	assert_int_equal(pcs[1], BYBX + 5);
	assert_int_equal(pcs[2], FRAME + 5);
	assert_int_equal(pcs[3], ROOT + 5);
}

static void looks_up_a_return_address_before_its_call(void **state)
{
	(void)state;
	/* a call that never returns is the last instruction of PUSH: FRAME follows */
	put(STACK, PUSH + SIZE);
	put(STACK + 8 + 24, ROOT + 5);
	assert_int_equal(walk((struct unwind_regs){.pc = LEAF, .sp = STACK}).n_pcs, 3);
	assert_int_equal(pcs[2], ROOT + 5);
	/* interrupted at the same address it is FRAME */
	put(STACK + 8, ROOT + 7);
	(void)walk((struct unwind_regs){.pc = PUSH + SIZE, .sp = STACK, .bp = STACK});
	assert_int_equal(pcs[1], ROOT + 7);
}

static void knows_where_a_plt_entry_pushes(void **state)
{
	(void)state;
	put(STACK, ROOT + 1);
	put(STACK + 8, ROOT + 2);
	(void)walk((struct unwind_regs){.pc = PLT + 16 + 10, .sp = STACK});
	assert_int_equal(pcs[1], ROOT + 1);
	(void)walk((struct unwind_regs){.pc = PLT + 16 + 11, .sp = STACK});
	assert_int_equal(pcs[1], ROOT + 2);
}

static void follows_a_realigned_stack(void **state)
{
	uint64_t bp = STACK + 0x100;

	(void)state;
	put(bp - 8, STACK + 0x180);   /* the CFA */
	put(STACK + 0x178, BYBX + 1); /* above it bx counts, as DRAP had saved it */
	put(bp - 16, STACK + 0x200);
	put(STACK + 0x208, ROOT + 1);
	assert_int_equal(walk((struct unwind_regs){.pc = DRAP, .sp = STACK, .bp = bp}).stop,
			 UNWIND_END);
	assert_int_equal(pcs[1], BYBX + 1);
	assert_int_equal(pcs[2], ROOT + 1);
}

static void uses_registers_that_are_alive_in_the_leaf_only(void **state)
{
	uint64_t saved = STACK + 0x800;
	struct unwind_regs regs = {.pc = BYR10, .sp = STACK, .saved = saved};

	(void)state;
	put(saved + 16, STACK + 0x40); /* r10 */
	put(STACK + 0x38, ROOT + 1);
	(void)walk(regs);
	assert_int_equal(pcs[1], ROOT + 1);
	regs.saved = 0;
	assert_int_equal(walk(regs).stop, UNWIND_BAD_CFI);
}

static void runs_rows_that_fit_no_rule(void **state)
{
	(void)state;
	put(STACK + 16, STACK + 0x40);
	put(STACK + 0x40, ROOT + 1);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(walk((struct unwind_regs){.pc = DEREF, .sp = STACK}).stop,
				 UNWIND_END);
		assert_int_equal(pcs[1], ROOT + 1);
	}
}

static void steps_over_a_signal_onto_another_stack(void **state)
{
	uint64_t uc = STACK + 0x400;
	struct unwind_result result;

	(void)state;
	put(uc - 8, TRAMP);           /* the handler returns there */
	put(uc + 160, STACK + 0x100); /* sp: below the signal's stack */
	put(uc + 120, STACK + 0x180); /* bp */
	put(uc + 168, FRAME + SIZE - 1);
	put(STACK + 0x188, ROOT + 1);
	result = walk((struct unwind_regs){.pc = LEAF, .sp = uc - 8});
	assert_int_equal(result.stop, UNWIND_END);
	assert_int_equal(pcs[1], TRAMP);
	assert_true(pcs[2] == ((FRAME + SIZE - 1) | UNWIND_EXACT));
	assert_int_equal(pcs[3], ROOT + 1);
}

static void gives_up_signals_that_go_round_in_circles(void **state)
{
	uint64_t uc = STACK + 0x400;
	struct unwind_result result;

	(void)state;
	put(uc - 8, TRAMP);
	put(uc + 160, uc - 8);
	put(uc + 168, LEAF);
	result = walk((struct unwind_regs){.pc = LEAF, .sp = uc - 8});
	assert_int_equal(result.stop, UNWIND_BAD_CFA);
	assert_int_equal(result.n_pcs, 2 * (8 + 1));
}

static void stops_on_a_loop_of_frame_pointers(void **state)
{
	(void)state;
	put(STACK, STACK);
	put(STACK + 8, FRAME + 1);
	assert_int_equal(walk((struct unwind_regs){.pc = FRAME, .sp = STACK, .bp = STACK}).stop,
			 UNWIND_BAD_CFA);
}

static void stops_where_the_cfa_wraps_around(void **state)
{
	(void)state;
	assert_int_equal(
		walk((struct unwind_regs){.pc = FRAME, .sp = STACK, .bp = UINT64_MAX - 15}).stop,
		UNWIND_BAD_CFA);
	assert_int_equal(walk((struct unwind_regs){.pc = LEAF, .sp = UINT64_MAX - 7}).stop,
			 UNWIND_BAD_CFA);
	assert_int_equal(
		walk((struct unwind_regs){.pc = FRAME, .sp = STACK, .bp = UINT64_MAX - 23}).stop,
		UNWIND_BOUNDS);
}

static void stops_where_the_stack_ends(void **state)
{
	uint64_t end = STACK + 8 * STACK_WORDS;

	(void)state;
	assert_int_equal(walk((struct unwind_regs){.pc = LEAF, .sp = end}).stop, UNWIND_BOUNDS);
	assert_int_equal(walk((struct unwind_regs){.pc = LEAF, .sp = end - 4}).stop,
			 UNWIND_BAD_CFA);
	assert_int_equal(walk((struct unwind_regs){.pc = HUGE, .sp = STACK}).stop, UNWIND_BOUNDS);
}

static void says_when_it_is_deeper_than_there_is_room(void **state)
{
	struct unwind_result result;

	(void)state;
	for (unsigned i = 0; i < 2 * MAX; i++)
		put(STACK + 8 * i, LEAF + 1);
	result = walk((struct unwind_regs){.pc = LEAF, .sp = STACK});
	assert_int_equal(result.n_pcs, MAX);
	assert_int_equal(result.stop, UNWIND_DEPTH);
}

static void tells_bad_cfi_from_none(void **state)
{
	(void)state;
	assert_int_equal(walk((struct unwind_regs){.pc = WRONG, .sp = STACK}).stop, UNWIND_BAD_CFI);
	assert_int_equal(walk((struct unwind_regs){.pc = BARE, .sp = STACK}).stop, UNWIND_NO_CFI);
	assert_int_equal(walk((struct unwind_regs){.pc = 1, .sp = STACK}).stop, UNWIND_NO_CFI);
}

static void walks_from_the_cache_without_reading_the_module(void **state)
{
	size_t reads;

	(void)state;
	put(STACK, ROOT + 5);
	(void)walk((struct unwind_regs){.pc = LEAF, .sp = STACK});
	reads = image.reads;
	(void)walk((struct unwind_regs){.pc = LEAF, .sp = STACK});
	assert_int_equal(image.reads, reads);
	unwind_cache_flush(&cache);
	(void)walk((struct unwind_regs){.pc = LEAF, .sp = STACK});
	assert_true(image.reads > reads);
}

static void never_believes_a_torn_entry(void **state)
{
	struct unwind_cache_entry *entry = rule_slot(&cache, LEAF);
	uint64_t tag;

	(void)state;
	rule_cache_put(&cache, cache.generation, LEAF, RULE_SP | 8 << RULE_KIND_BITS);
	tag = entry->tag;
	rule_cache_put(&cache, cache.generation, LEAF, RULE_BP | 16 << RULE_KIND_BITS);
	assert_int_equal(rule_kind(rule_cache_get(&cache, LEAF)), RULE_BP);
	entry->tag = tag; /* one writer's tag, another's rule */
	assert_int_equal(rule_cache_get(&cache, LEAF), RULE_NONE);
}

static void packs_negative_and_positive_slots(void **state)
{
	const struct cfi_row row = {
		.cfa_reg = ARCH_REG_SP,
		.cfa_value = -8,
		.regs = {[CFI_PC] = {-8, CFI_OFFSET},
			 [CFI_BP] = {-262136, CFI_OFFSET},
			 [CFI_BX] = {16, CFI_OFFSET}},
	};
	struct unwind_module module = image_module();
	uint64_t rule = rule_from_row(&image.reader, &module, &row, false);

	(void)state;
	assert_int_equal(rule_kind(rule), RULE_SP);
	assert_int_equal(rule_offset(rule), -8);
	assert_int_equal(rule_slot_address(STACK, rule_bp_slot(rule)), STACK - 262136);
	assert_int_equal(rule_slot_address(STACK, rule_bx_slot(rule)), STACK + 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(walks_to_the_root, make_image),
		cmocka_unit_test_setup(ends_at_a_return_address_of_0, make_image),
		cmocka_unit_test_setup(restores_bp_and_bx, make_image),
		cmocka_unit_test_setup(looks_up_a_return_address_before_its_call, make_image),
		cmocka_unit_test_setup(knows_where_a_plt_entry_pushes, make_image),
		cmocka_unit_test_setup(follows_a_realigned_stack, make_image),
		cmocka_unit_test_setup(uses_registers_that_are_alive_in_the_leaf_only, make_image),
		cmocka_unit_test_setup(runs_rows_that_fit_no_rule, make_image),
		cmocka_unit_test_setup(steps_over_a_signal_onto_another_stack, make_image),
		cmocka_unit_test_setup(gives_up_signals_that_go_round_in_circles, make_image),
		cmocka_unit_test_setup(stops_on_a_loop_of_frame_pointers, make_image),
		cmocka_unit_test_setup(stops_where_the_cfa_wraps_around, make_image),
		cmocka_unit_test_setup(stops_where_the_stack_ends, make_image),
		cmocka_unit_test_setup(says_when_it_is_deeper_than_there_is_room, make_image),
		cmocka_unit_test_setup(tells_bad_cfi_from_none, make_image),
		cmocka_unit_test_setup(walks_from_the_cache_without_reading_the_module, make_image),
		cmocka_unit_test_setup(never_believes_a_torn_entry, make_image),
		cmocka_unit_test_setup(packs_negative_and_positive_slots, make_image),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
