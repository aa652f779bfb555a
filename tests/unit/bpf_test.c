/* bpf_test.c - what a seccomp filter says to one call, and what is said of one that is wrong */
#include "sampler/agent/interpose/bpf.h"

#include <linux/audit.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define LOAD(field)                                                                                \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, field))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, (value))

static const struct seccomp_data sigreturn = {
	.nr = SYS_rt_sigreturn,
	.arch = AUDIT_ARCH_X86_64,
	.instruction_pointer = UINT64_C(0x1122334455667788),
};

/* Runs the program and gives what it left in A. */
#define GIVES(expected, ...)                                                                       \
	do {                                                                                       \
		const struct sock_filter program[] = {__VA_ARGS__, BPF_STMT(BPF_RET | BPF_A, 0)};  \
		assert_int_equal(bpf_run(program, LENGTH(program), &sigreturn), (expected));       \
	} while (0)

#define IS_REFUSED(...) GIVES(SECCOMP_RET_KILL_PROCESS, BPF_STMT(BPF_LD | BPF_IMM, 1), __VA_ARGS__)

static void reads_the_call(void **state)
{
	(void)state;
	GIVES(SYS_rt_sigreturn, LOAD(nr));
	GIVES(AUDIT_ARCH_X86_64, LOAD(arch));
	GIVES(0x55667788, LOAD(instruction_pointer));
	GIVES(0x11223344, BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 12));
	GIVES(sizeof(struct seccomp_data), BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0));
}

static void computes(void **state)
{
	static const struct {
		uint16_t op;
		uint32_t by;
		uint32_t result;
	} cases[] = {
		{BPF_ADD, 3, 15}, {BPF_SUB, 13, UINT32_MAX},
		{BPF_MUL, 3, 36}, {BPF_DIV, 5, 2},
		{BPF_AND, 9, 8},  {BPF_OR, 3, 15},
		{BPF_XOR, 5, 9},  {BPF_LSH, 2, 48},
		{BPF_RSH, 2, 3},  {BPF_NEG, 0, (uint32_t)-12},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		GIVES(cases[i].result, BPF_STMT(BPF_LD | BPF_IMM, 12),
		      BPF_STMT((uint16_t)(BPF_ALU | BPF_K | cases[i].op), cases[i].by));
		GIVES(cases[i].result, BPF_STMT(BPF_LDX | BPF_IMM, cases[i].by),
		      BPF_STMT(BPF_LD | BPF_IMM, 12),
		      BPF_STMT((uint16_t)(BPF_ALU | BPF_X | cases[i].op), 0));
	}
}

static void keeps_words_and_moves_them(void **state)
{
	(void)state;
	GIVES(7, BPF_STMT(BPF_LD | BPF_IMM, 7), BPF_STMT(BPF_ST, 15), BPF_STMT(BPF_LD | BPF_IMM, 0),
	      BPF_STMT(BPF_LDX | BPF_MEM, 15), BPF_STMT(BPF_STX, 0), BPF_STMT(BPF_LD | BPF_MEM, 0));
	GIVES(9, BPF_STMT(BPF_LD | BPF_IMM, 9), BPF_STMT(BPF_MISC | BPF_TAX, 0),
	      BPF_STMT(BPF_LD | BPF_IMM, 0), BPF_STMT(BPF_MISC | BPF_TXA, 0));
}

static void jumps(void **state)
{
	static const struct {
		uint16_t op;
		uint32_t with;
		uint32_t result;
	} cases[] = {
		{BPF_JEQ, 15, 1}, {BPF_JEQ, 14, 2}, {BPF_JGT, 14, 1}, {BPF_JGT, 15, 2},
		{BPF_JGE, 15, 1}, {BPF_JGE, 16, 2}, {BPF_JSET, 8, 1}, {BPF_JSET, 16, 2},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(cases); i++)
		GIVES(cases[i].result, LOAD(nr),
		      BPF_JUMP((uint16_t)(BPF_JMP | BPF_K | cases[i].op), cases[i].with, 0, 1),
		      RETURN(1), RETURN(2));
	GIVES(5, BPF_STMT(BPF_JMP | BPF_JA, 1), RETURN(4), RETURN(5));
}

static void refuses_what_the_kernel_would(void **state)
{
	(void)state;
	IS_REFUSED(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, sizeof(struct seccomp_data)));
	IS_REFUSED(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2));
	IS_REFUSED(BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0));
	IS_REFUSED(BPF_STMT(BPF_LD | BPF_MEM, BPF_MEMWORDS));
	IS_REFUSED(BPF_STMT(BPF_ST, BPF_MEMWORDS));
	IS_REFUSED(BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0));
	IS_REFUSED(BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 32));
	IS_REFUSED(BPF_STMT(BPF_ALU | 0xf0, 0));
	IS_REFUSED(BPF_STMT(BPF_JMP | BPF_JA, 0xffffffff));
	IS_REFUSED(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1, 200, 200));
	IS_REFUSED(BPF_JUMP(BPF_JMP | 0x90, 1, 0, 0));
	assert_int_equal(bpf_run(NULL, 0, &sigreturn), SECCOMP_RET_KILL_PROCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_call),
		cmocka_unit_test(computes),
		cmocka_unit_test(keeps_words_and_moves_them),
		cmocka_unit_test(jumps),
		cmocka_unit_test(refuses_what_the_kernel_would),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
