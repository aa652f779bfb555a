/* instruction.h - where an x86-64 instruction ends, and what it is made of */
#ifndef REMOTE_INSTRUCTION_H
#define REMOTE_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	INSTRUCTION_BYTES = 15, /* the longest */
	INSTRUCTION_0F = 0x0f00,
	INSTRUCTION_0F38 = 0x3800,
	INSTRUCTION_0F3A = 0x3a00,
};

/* Operands are left as they are encoded. */
struct instruction {
	unsigned length;
	unsigned opcode; /* the map's number above, the opcode byte below */
	bool vector;     /* VEX or EVEX */
	bool has_modrm;
	bool wide;   /* REX.W */
	uint8_t mod; /* of modrm; reg, rm and base with the bit of REX */
	uint8_t reg;
	uint8_t rm;   /* without modrm: the register in the opcode's low bits */
	uint8_t base; /* of the sib byte */
	bool has_sib;
	bool has_index;
	int32_t displacement;
	int64_t immediate;
};

/**
 * instruction_decode - split the instruction at CODE
 * @n: how many bytes can be read there; fewer than INSTRUCTION_BYTES may not be enough
 *
 * Return:  false when it is none in 64-bit mode, or does not end in N bytes.
 * Context: any thread.
 */
bool instruction_decode(const unsigned char *code, size_t n, struct instruction *ret);

#endif
