/* code.c - the instructions of a function of another process, one after the other */
#include "sampler/remote/code.h"

bool code_init(struct code *code, struct unwind_reader *reader, uint64_t begin, uint64_t end)
{
	if (end < begin || end - begin > CODE_FUNCTION_BYTES)
		return false;
	code->reader = reader;
	code->at = begin;
	code->end = end;
	code->n = 0;
	code->used = 0;
	return true;
}

static bool fill(struct code *code)
{
	uint64_t left = code->end - code->at;

	if (code->n - code->used >= INSTRUCTION_BYTES || code->n - code->used == left)
		return true;
	code->n = left < CODE_CHUNK_BYTES ? (size_t)left : CODE_CHUNK_BYTES;
	code->used = 0;
	return code->reader->read(code->reader, code->at, code->chunk, code->n);
}

bool code_next(struct code *code, struct instruction *ret)
{
	if (code->at == code->end || !fill(code) ||
	    !instruction_decode(code->chunk + code->used, code->n - code->used, ret))
		return false;
	code->at += ret->length;
	code->used += ret->length;
	return true;
}
