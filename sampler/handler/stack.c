/* stack.c - walks a stack straight into the ring, and announces new modules before it */
#include "sampler/handler/stack.h"

#include "sampler/handler/sys/sigsafe.h"

/* The loader's string: the module was loaded a moment ago and a frame is in it. */
static void copy_path(char *to, const char *from)
{
	uint32_t i = 0;

	for (; i < RECORD_PATH_BYTES - 1 && from[i]; i++)
		to[i] = from[i];
	for (; i < RECORD_PATH_BYTES; i++)
		to[i] = '\0';
}

/* Looked up again instead of stored: the stack belongs to the program. */
static __attribute__((noinline)) void write_module(struct process *p, struct slot *slot,
						   uint64_t pc, uint64_t now_ns)
{
	struct record_module *record = ring_reserve(slot, sizeof(*record));
	struct unwind_module module;
	struct module_seen seen;

	if (!record || !modules_find(p, pc, &module, &seen))
		return;
	record->head = (struct record){.bytes = sizeof(*record), .type = RECORD_MODULE};
	record->time_ns = now_ns;
	record->start = seen.start;
	record->end = seen.end;
	record->bias = seen.bias;
	copy_path(record->path, seen.path);
	ring_commit(slot, sizeof(*record));
}

/*
 * A module that the walk saw for the first time is announced before the sample: its record
 * overwrites the unfinished sample, and the walk is repeated, then from cached rules.
 */
void *stack_walk(struct process *p, struct slot *slot, struct memory *memory, struct stack *stack)
{
	struct unwind_result result;
	unsigned char *record;

	for (;;) {
		record = ring_reserve(slot, RECORD_MAX_BYTES);
		if (!record)
			return NULL;
		memory_init(memory, p, slot->own, memory->regs.sp);
		result = unwind_walk(&memory->reader, &p->rules, &memory->regs,
				     (void *)(record + stack->head_bytes), RECORD_MAX_PCS);
		if (!memory->n_seen)
			break;
		while (memory->n_seen)
			write_module(p, slot, memory->seen[--memory->n_seen], stack->now_ns);
	}
	stack->n_pcs = (uint16_t)result.n_pcs;
	stack->stop = (uint8_t)result.stop;
	stack->guessed = result.guessed;
	stack->bytes = result.cfa > memory->regs.sp ? result.cfa - memory->regs.sp : 0;
	return record;
}
