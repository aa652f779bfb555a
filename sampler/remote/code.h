/* code.h - decodes the x86-64 instructions of a function of another process, in order */
#ifndef REMOTE_CODE_H
#define REMOTE_CODE_H

#include "sampler/unwind/unwind.h"

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

enum {
	CODE_CHUNK_BYTES = 512,
	CODE_FUNCTION_BYTES = 256 << 10, /* no function is read that is longer */
};

/* [AT, END) is still to come. */
struct code {
	struct unwind_reader *reader;
	uint64_t at;
	uint64_t end;
	size_t n;
	size_t used;
	unsigned char chunk[CODE_CHUNK_BYTES];
};

/**
 * code_init - stand before the first instruction
 *
 * Return:  false for a range that no function has.
 * Context: collector thread.
 */
bool code_init(struct code *code, struct unwind_reader *reader, uint64_t begin, uint64_t end);

/**
 * code_next - take the instruction at code->at
 *
 * Return:  false at the end, and where there is none; code->at stays.
 * Context: collector thread.
 */
bool code_next(struct code *code, struct instruction *ret);

/**
 * instruction_decode - split the instruction at CODE
 * @n: how many bytes can be read there; fewer than INSTRUCTION_BYTES may not be enough
 *
 * Return:  false when it is none in 64-bit mode, or does not end in N bytes.
 * Context: any thread.
 */
bool instruction_decode(const unsigned char *code, size_t n, struct instruction *ret);

#endif
