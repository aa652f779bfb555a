/* code.h - the instructions of a function of another process, one after the other */
#ifndef REMOTE_CODE_H
#define REMOTE_CODE_H

#include "sampler/remote/instruction.h"
#include "sampler/unwind/unwind.h"

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

#endif
