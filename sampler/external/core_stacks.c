/* core_stacks.c - walks the stacks of a core file's threads */
#include "base/cleanup.h"
#include "sampler/collector/launch/examine.h"
#include "sampler/external/core_internal.h"
#include "sampler/external/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { RULES = 4096 }; /* a power of two */

/* User code ends below this; a module cannot end above. */
#define ADDRESS_END (UINT64_C(1) << 56)

/* One after another: rules are the same for all threads. */
struct walking {
	struct core *core;
	struct unwind_cache rules;
	struct unwind_cache_entry entries[RULES];
	uint64_t pcs[STACKS_MOST_FRAMES];
};

static bool read_memory(struct unwind_reader *reader, uint64_t address, void *to, size_t len)
{
	return core_memory((struct core *)reader, address, to, len);
}

static bool find_module(struct unwind_reader *reader, uint64_t pc, struct unwind_module *ret_module)
{
	struct core *core = (struct core *)reader;
	const struct core_range *range = core_range(core, pc);
	const struct core_image *image = range ? core_image(core, range->module) : NULL;
	uint64_t bias;

	if (!image || image->elf.end - image->elf.first > ADDRESS_END - image->base ||
	    image->base >= ADDRESS_END)
		return false;
	bias = image->base - image->elf.first;
	ret_module->start = image->base;
	ret_module->end = bias + image->elf.end;
	ret_module->eh_frame_hdr = image->elf.eh_frame_hdr ? bias + image->elf.eh_frame_hdr : 0;
	return range->start < ret_module->end;
}

static void place(struct core *core, struct frame *frame)
{
	uint64_t at = frame->addr - !frame->exact;
	const struct core_range *range = core_range(core, at);
	const struct core_image *image;

	if (!range)
		return;
	frame->module = core->modules[range->module].path;
	image = core_image(core, range->module);
	if (image)
		frame->module_offset = frame->addr - image->base + image->elf.first;
}

static int take_thread(struct walking *walking, const struct core_thread *thread,
		       struct stacks *stacks)
{
	struct core *core = walking->core;
	struct unwind_result result = {.n_pcs = 1, .stop = UNWIND_BOUNDS};
	struct stack *stack;

	core->work = 0;
	walking->pcs[0] = thread->regs.pc | UNWIND_EXACT;
	if (!thread->narrow)
		result = unwind_walk(&core->reader, &walking->rules, &thread->regs, walking->pcs,
				     STACKS_MOST_FRAMES);
	stack = stacks_add(stacks, result.n_pcs);
	if (!stack)
		return -ENOMEM;
	stack->tid = thread->tid;
	stack->signal = thread->signal;
	stack->how = STACK_CORE;
	stack->state = STATE_STOPPED;
	stack->why = thread->narrow ? "32-bit code" : collector_stop_text(result.stop);
	for (size_t i = 0; i < result.n_pcs; i++) {
		stack->frames[i].addr = walking->pcs[i] & ~UNWIND_EXACT;
		stack->frames[i].exact = (walking->pcs[i] & UNWIND_EXACT) != 0;
		place(core, &stack->frames[i]);
	}
	return 0;
}

int core_stacks(struct core *core, struct stacks *ret_stacks, struct err *err)
{
	_cleanup_free_ struct walking *walking = calloc(1, sizeof(*walking));
	struct stacks stacks = {0};
	int r = 0;

	if (!walking)
		return err_set(err, ENOMEM, "walk its stacks");
	walking->core = core;
	walking->rules.entries = walking->entries;
	walking->rules.n = RULES;
	core->reader.read = read_memory;
	core->reader.find = find_module;
	memcpy(stacks.comm, core->comm, sizeof(stacks.comm));
	for (size_t i = 0; r == 0 && i < core->n_threads; i++)
		r = take_thread(walking, &core->threads[i], &stacks);
	if (r < 0) {
		stacks_release(&stacks);
		return err_set(err, -r, "walk its stacks");
	}
	*ret_stacks = stacks;
	return 0;
}
