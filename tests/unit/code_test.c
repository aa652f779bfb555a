/* code_test.c - where x86-64 instructions end */
#include "sampler/remote/code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* N is how long the instruction is; the bytes behind it belong to the next one. */
struct known {
	size_t n;
	unsigned char code[INSTRUCTION_BYTES + 1];
};

static void finds_the_end_of_every_kind(void **state)
{
	static const struct known all[] = {
		{1, {0x90}},                                        /* nop */
		{1, {0x55}},                                        /* push %rbp */
		{2, {0x41, 0x57}},                                  /* push %r15 */
		{3, {0x48, 0x89, 0xe5}},                            /* mov %rsp,%rbp */
		{4, {0x48, 0x83, 0xec, 0x18}},                      /* sub $24,%rsp */
		{7, {0x48, 0x81, 0xec, 0, 1, 0, 0}},                /* sub $256,%rsp */
		{5, {0xe8, 1, 2, 3, 4}},                            /* call */
		{6, {0x0f, 0x84, 1, 2, 3, 4}},                      /* je */
		{5, {0x66, 0x81, 0xc3, 1, 2}},                      /* add $513,%bx */
		{10, {0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8}},         /* movabs */
		{5, {0xb8, 1, 2, 3, 4}},                            /* mov $,%eax */
		{9, {0xa1, 1, 2, 3, 4, 5, 6, 7, 8}},                /* movabs ,%eax */
		{8, {0xc7, 0x44, 0x24, 8, 1, 2, 3, 4}},             /* movl $,8(%rsp) */
		{7, {0x8b, 0x04, 0x25, 1, 2, 3, 4}},                /* mov abs,%eax */
		{6, {0x8b, 0x05, 1, 2, 3, 4}},                      /* mov x(%rip),%eax */
		{3, {0xf6, 0xc1, 1}},                               /* test $1,%cl */
		{2, {0xf6, 0xd1}},                                  /* not %cl */
		{6, {0xf7, 0xc1, 1, 2, 3, 4}},                      /* test $,%ecx */
		{2, {0xf7, 0xd9}},                                  /* neg %ecx */
		{4, {0xf3, 0x0f, 0x1e, 0xfa}},                      /* endbr64 */
		{9, {0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}}, /* mov %fs:40,%rax */
		{9, {0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}},       /* nopw */
		{6, {0x66, 0x0f, 0x3a, 0x0f, 0xc1, 4}},             /* palignr */
		{5, {0x66, 0x0f, 0x38, 0x00, 0xc1}},                /* pshufb */
		{4, {0xc5, 0xf8, 0x28, 0xc1}},                      /* vmovaps */
		{3, {0xc5, 0xf8, 0x77}},                            /* vzeroupper */
		{6, {0xc4, 0xe3, 0x7d, 0x39, 0xc1, 1}},             /* vextracti128 */
		{7, {0x62, 0xf1, 0x7c, 0x48, 0x10, 0x43, 1}},       /* vmovups 64(%rbx) */
		{4, {0xc8, 1, 2, 3}},                               /* enter */
		{3, {0xc2, 1, 2}},                                  /* ret $513 */
	};
	struct instruction in;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		assert_true(instruction_decode(all[i].code, sizeof(all[i].code), &in));
		assert_int_equal(in.length, all[i].n);
		/* Exactly these bytes are enough, one less is not. */
		assert_true(instruction_decode(all[i].code, all[i].n, &in));
		assert_false(instruction_decode(all[i].code, all[i].n - 1, &in));
	}
}

static void takes_operands_apart(void **state)
{
	static const unsigned char lea[] = {0x49, 0x8d, 0xac, 0x24, 0x10, 0, 0, 0x80};
	static const unsigned char push[] = {0x41, 0x54};
	static const unsigned char sub[] = {0x48, 0x83, 0xec, 0xf8};
	struct instruction in;

	(void)state;
	assert_true(instruction_decode(lea, sizeof(lea), &in));
	assert_int_equal(in.opcode, 0x8d);
	assert_int_equal(in.reg, 5);
	assert_int_equal(in.base, 12);
	assert_false(in.has_index);
	assert_true(in.displacement == INT32_MIN + 16);
	assert_true(instruction_decode(push, sizeof(push), &in));
	assert_int_equal(in.rm, 12);
	assert_true(instruction_decode(sub, sizeof(sub), &in));
	assert_true(in.wide);
	assert_true(in.immediate == -8);
}

static void refuses_what_is_no_instruction(void **state)
{
	static const unsigned char none[][INSTRUCTION_BYTES] = {
		{0x06}, {0x60}, {0x9a}, {0xd4}, {0x0f, 0x04}, {0x0f, 0x39}, {0xc4, 0x00, 0x00},
	};
	unsigned char prefixes[INSTRUCTION_BYTES + 1];
	struct instruction in;

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_false(instruction_decode(none[i], sizeof(none[i]), &in));
	memset(prefixes, 0x66, sizeof(prefixes));
	prefixes[INSTRUCTION_BYTES] = 0x90;
	assert_false(instruction_decode(prefixes, sizeof(prefixes), &in));
	assert_false(instruction_decode(prefixes, 0, &in));
}

static void never_says_more_than_fifteen_bytes(void **state)
{
	unsigned char code[32];
	struct instruction in;
	uint32_t random = 1;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		for (size_t at = 0; at < sizeof(code); at++) {
			random = random * 1664525 + 1013904223;
			code[at] = (unsigned char)(random >> 24);
		}
		if (instruction_decode(code, sizeof(code), &in))
			assert_in_range(in.length, 1, INSTRUCTION_BYTES);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_end_of_every_kind),
		cmocka_unit_test(takes_operands_apart),
		cmocka_unit_test(refuses_what_is_no_instruction),
		cmocka_unit_test(never_says_more_than_fifteen_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
