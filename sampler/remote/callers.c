/* callers.c - whether the call in front of a return address can have entered a function */
#include "sampler/remote/callers.h"

#include "sampler/remote/code.h"
#include "sampler/unwind/cfi.h"
#include "sampler/unwind/reader.h"
#include "sampler/unwind/rule.h"

enum {
	JUMP_BYTES = 12,
	OP_INDIRECT = 0xff,
	OP_INDIRECT_JUMP = 4, /* in reg of its modrm */
};

bool callers_function(struct remote *remote, uint64_t at, struct callers_function *ret)
{
	struct unwind_reader *reader = remote_reader(remote);
	struct unwind_module module;
	struct cfi_fde fde;
	struct cfi_row row;

	if (!reader->find(reader, at, &module) ||
	    cfi_find(reader, &module, at, &fde) != CFI_FOUND ||
	    cfi_row_at(reader, &module, &fde, at, &row) != CFI_FOUND)
		return false;
	*ret = (struct callers_function){
		.begin = fde.begin,
		.end = fde.begin + fde.size,
		.rule = rule_from_row(reader, &module, &row, fde.signal),
	};
	return true;
}

/* Where a linker's stub or a thunk at an address jumps to; the address if it is none. */
static uint64_t follow_jump(struct unwind_reader *reader, uint64_t target)
{
	unsigned char code[JUMP_BYTES];
	unsigned at = 0;
	int32_t distance;
	uint64_t to;

	if (!reader->read(reader, target, code, sizeof(code)))
		return target;
	if (code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa)
		at = 4; /* endbr64 */
	if (code[at] == 0xf2)
		at++; /* bnd */
	if (code[at] == 0xff && code[at + 1] == 0x25) {
		__builtin_memcpy(&distance, code + at + 2, sizeof(distance));
		to = target + at + 6 + (uint64_t)(int64_t)distance;
		return unwind_read_word(reader, to, &to) ? to : target;
	}
	if (code[at] != 0xe9)
		return target;
	__builtin_memcpy(&distance, code + at + 1, sizeof(distance));
	return target + at + 5 + (uint64_t)(int64_t)distance;
}

static bool is_jump(unsigned opcode)
{
	return opcode == 0xe9 || opcode == 0xeb || (opcode >= 0x70 && opcode <= 0x7f) ||
	       (opcode >= 0x0f80 && opcode <= 0x0f8f);
}

/* What a function that ends in a jump to another leaves: the return address of its own call. */
static enum belief believe_jumps(struct remote *remote, const struct callers_function *from,
				 const struct callers_function *to)
{
	enum belief belief = CALLS_ELSEWHERE;
	struct instruction in;
	struct code code;

	if (!code_init(&code, remote_reader(remote), from->begin, from->end))
		return CALLS_SOMETHING;
	while (code_next(&code, &in)) {
		if (is_jump(in.opcode) && !in.vector &&
		    code.at + (uint64_t)in.immediate == to->begin)
			return CALLS_US;
		if (in.opcode == OP_INDIRECT && (in.reg & 7) == OP_INDIRECT_JUMP)
			belief = CALLS_SOMETHING;
	}
	return code.at == code.end ? belief : CALLS_SOMETHING;
}

static enum belief believe_target(struct remote *remote, uint64_t target,
				  const struct callers_function *called)
{
	uint64_t to = target == called->begin ? target : follow_jump(remote_reader(remote), target);
	struct callers_function function;

	if (to == called->begin)
		return CALLS_US;
	/* A stub that is not bound yet goes on in itself, and whatever it calls may be us. */
	if (!callers_function(remote, to, &function) || to != function.begin)
		return CALLS_SOMETHING;
	return believe_jumps(remote, &function, called);
}

enum belief callers_believe(struct remote *remote, uint64_t pc,
			    const struct callers_function *called)
{
	struct unwind_reader *reader = remote_reader(remote);
	unsigned char before[ARCH_CALL_BYTES];
	uint64_t target;

	if (pc < sizeof(before) || !remote_is_code(remote, pc - 1) ||
	    !reader->read(reader, pc - sizeof(before), before, sizeof(before)) ||
	    !arch_follows_call(before, pc, &target))
		return NOT_A_RETURN;
	return target ? believe_target(remote, target, called) : CALLS_SOMETHING;
}
