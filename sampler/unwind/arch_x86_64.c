/* arch_x86_64.c - calls, trampolines and saved registers of x86-64 */
#include "sampler/unwind/arch_x86_64.h"

enum {
	SIGCONTEXT_WORDS = 17,
};

/* ff /2 in its eight lengths: opcode at before[8 - LEN], then modrm, sib, displacement. */
static bool is_indirect_call(const unsigned char *code, unsigned len)
{
	unsigned mod = code[1] >> 6;
	unsigned rm = code[1] & 7;
	unsigned want = 2;

	if (code[0] != 0xff || ((code[1] >> 3) & 7) != 2)
		return false;
	if (mod != 3 && rm == 4)
		want++;
	if (mod == 1)
		want++;
	if (mod == 2 || (mod == 0 && rm == 5))
		want += 4;
	/* [base without a register]: a sib byte whose base is 5 carries four bytes more */
	if (mod == 0 && rm == 4 && len > 2 && (code[2] & 7) == 5)
		want += 4;
	return want == len;
}

bool arch_follows_call(const unsigned char *before, uint64_t address, uint64_t *ret_target)
{
	int32_t distance;

	*ret_target = 0;
	if (before[3] == 0xe8) {
		__builtin_memcpy(&distance, before + 4, sizeof(distance));
		*ret_target = address + (uint64_t)(int64_t)distance;
		if (*ret_target < ARCH_CODE_END)
			return true;
		*ret_target = 0;
	}
	for (unsigned len = 2; len <= 7; len++)
		if (is_indirect_call(before + ARCH_CALL_BYTES - len, len))
			return true;
	return false;
}

bool arch_is_sigreturn(const unsigned char *code)
{
	static const unsigned char wanted[ARCH_SIGRETURN_BYTES] = {
		0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05,
	};

	for (unsigned i = 0; i < ARCH_SIGRETURN_BYTES; i++)
		if (code[i] != wanted[i])
			return false;
	return true;
}

bool arch_is_syscall(const unsigned char *code)
{
	return code[0] == 0x0f && code[1] == 0x05;
}

int arch_saved_offset(unsigned reg)
{
	/* DWARF: ax dx cx bx si di bp sp r8..r15 pc; the kernel: r8..r15 di si bp bx dx ax cx sp pc
	 */
	static const unsigned char words[SIGCONTEXT_WORDS] = {
		13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7, 16,
	};

	return reg < SIGCONTEXT_WORDS ? words[reg] * ARCH_WORD : -1;
}
