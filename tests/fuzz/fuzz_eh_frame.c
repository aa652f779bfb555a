/* fuzz_eh_frame.c - a module and a stack full of lies */
#include "sampler/unwind/unwind.h"

#include <stdlib.h>
#include <string.h>

enum {
	MAX_PCS = 128,
	N_ENTRIES = 64,
	HEAD = 48, /* registers first: pc, sp, bp, bx, saved; then where the header is */
	STACK_BYTES = 512,
};

#define MODULE UINT64_C(0x400000)
#define STACK  UINT64_C(0x7ffd00000000)

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

struct input {
	struct unwind_reader reader;
	const unsigned char *module;
	uint64_t module_size;
	uint64_t eh_frame_hdr;
};

static bool read_input(struct unwind_reader *reader, uint64_t address, void *to, size_t len)
{
	struct input *input = (struct input *)reader;

	if (address < MODULE || address - MODULE > input->module_size ||
	    input->module_size - (address - MODULE) < len)
		return false;
	memcpy(to, input->module + (address - MODULE), len);
	return true;
}

static bool find_input(struct unwind_reader *reader, uint64_t pc, struct unwind_module *ret_module)
{
	struct input *input = (struct input *)reader;

	if (pc < MODULE || pc - MODULE >= input->module_size)
		return false;
	ret_module->start = MODULE;
	ret_module->end = MODULE + input->module_size;
	ret_module->eh_frame_hdr = input->eh_frame_hdr;
	return true;
}

static void walk(struct input *input, const uint64_t head[6])
{
	static struct unwind_cache_entry entries[N_ENTRIES];
	static struct unwind_cache cache = {.entries = entries, .n = N_ENTRIES};
	const struct unwind_regs regs = {
		.pc = head[0],
		.sp = head[1],
		.bp = head[2],
		.bx = head[3],
		.saved = head[4],
	};
	uint64_t pcs[MAX_PCS];
	struct unwind_result result = {0};

	unwind_cache_flush(&cache);
	/* The second walk goes by the cache, and has to come to the same. */
	for (int i = 0; i < 2; i++) {
		size_t n_pcs = result.n_pcs;

		result = unwind_walk(&input->reader, &cache, &regs, pcs, MAX_PCS);
		if (result.n_pcs == 0 || result.n_pcs > MAX_PCS ||
		    (unsigned)result.stop >= UNWIND_N_STOPS || (i && result.n_pcs != n_pcs))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct input input = {.reader = {.read = read_input, .find = find_input}};
	unsigned char *stack;
	uint64_t head[6];

	if (size < HEAD + STACK_BYTES)
		return 0;
	memcpy(head, data, sizeof(head));
	stack = malloc(STACK_BYTES);
	if (!stack)
		return 0;
	memcpy(stack, data + HEAD, STACK_BYTES);
	input.reader.lo = STACK;
	input.reader.hi = STACK + STACK_BYTES;
	input.reader.bytes = stack;
	input.module = data + HEAD + STACK_BYTES;
	input.module_size = size - HEAD - STACK_BYTES;
	input.eh_frame_hdr = head[5];
	walk(&input, head);
	free(stack);
	return 0;
}
