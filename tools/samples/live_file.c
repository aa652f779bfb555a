/* live_file.c - the file of --live: what is still allocated, as of now */
#include "tools/samples/samples.h"

#include "base/io.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an entry of a map takes, its share of the table included. */
enum { ENTRY_BYTES = 112 };

/* Blocks that were taken at the same place share it. */
struct live_stack {
	struct live_stack *next; /* of the same hash */
	uint64_t hash;
	size_t n_blocks;
	size_t n_frames;
	bool truncated;
	struct frame frames[];
};

struct live_process {
	struct map blocks; /* by address */
	uint32_t number;
	bool ended;
};

struct live_block {
	struct live_block *before;
	struct live_block *after;
	struct live_process *process;
	struct live_stack *stack;
	uint64_t address;
	uint64_t time_ns;
	uint64_t weight;
	pid_t pid;
	pid_t tid;
	uint32_t cpu;
	char comm[SAMPLE_COMM_SIZE];
};

enum { BLOCK_BYTES = sizeof(struct live_block) + ENTRY_BYTES };

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static uint64_t hash_of(const struct sample *sample)
{
	uint64_t hash = sample->n_frames;

	for (size_t i = 0; i < sample->n_frames; i++)
		hash = mix(mix(hash, sample->frames[i].addr),
			   (uint64_t)(uintptr_t)sample->frames[i].symbol);
	return hash;
}

/* Equal names are one: the symbolizer has one copy of each. */
static bool is_same_frame(const struct frame *a, const struct frame *b)
{
	return a->addr == b->addr && a->symbol == b->symbol && a->offset == b->offset &&
	       a->module == b->module && a->exact == b->exact && a->inlined == b->inlined;
}

static bool is_same(const struct live_stack *stack, const struct sample *sample)
{
	if (stack->n_frames != sample->n_frames || stack->truncated != sample->truncated)
		return false;
	for (size_t i = 0; i < stack->n_frames; i++)
		if (!is_same_frame(&stack->frames[i], &sample->frames[i]))
			return false;
	return true;
}

static size_t stack_bytes(const struct live_stack *stack)
{
	return sizeof(*stack) + stack->n_frames * sizeof(stack->frames[0]) + ENTRY_BYTES;
}

/* Return: the stack, with one block more; NULL without memory. */
static struct live_stack *take_stack(struct live_heap *heap, const struct sample *sample)
{
	uint64_t hash = hash_of(sample);
	struct live_stack *first = map_get(&heap->stacks, hash);
	struct live_stack *stack = first;
	size_t frames_bytes = sample->n_frames * sizeof(sample->frames[0]);

	while (stack && !is_same(stack, sample))
		stack = stack->next;
	if (!stack) {
		stack = calloc(1, sizeof(*stack) + frames_bytes);
		if (!stack)
			return NULL;
		stack->next = first;
		stack->hash = hash;
		stack->n_frames = sample->n_frames;
		stack->truncated = sample->truncated;
		if (frames_bytes)
			memcpy(stack->frames, sample->frames, frames_bytes);
		if (map_put(&heap->stacks, hash, stack) < 0) {
			free(stack);
			return NULL;
		}
		heap->bytes += stack_bytes(stack);
	}
	stack->n_blocks++;
	return stack;
}

static void unlink_stack(struct live_heap *heap, struct live_stack *stack)
{
	struct live_stack *first = map_get(&heap->stacks, stack->hash);

	if (first != stack) {
		while (first->next != stack)
			first = first->next;
		first->next = stack->next;
	} else if (stack->next) {
		(void)map_put(&heap->stacks, stack->hash, stack->next); /* it has the key */
	} else {
		(void)map_remove(&heap->stacks, stack->hash);
	}
}

static void give_stack_back(struct live_heap *heap, struct live_stack *stack)
{
	if (--stack->n_blocks > 0)
		return;
	unlink_stack(heap, stack);
	heap->bytes -= stack_bytes(stack);
	free(stack);
}

static void forget_process(struct live_heap *heap, struct live_process *process)
{
	heap->n_ended -= process->ended;
	heap->bytes -= sizeof(*process) + ENTRY_BYTES;
	(void)map_remove(&heap->processes, process->number);
	map_release(&process->blocks);
	free(process);
}

static struct live_process *process_of(struct live_heap *heap, uint32_t number)
{
	struct live_process *process = map_get(&heap->processes, number);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->number = number;
	if (map_put(&heap->processes, number, process) < 0) {
		free(process);
		return NULL;
	}
	heap->bytes += sizeof(*process) + ENTRY_BYTES;
	return process;
}

static void append(struct live_heap *heap, struct live_block *block)
{
	block->before = heap->last;
	*(heap->last ? &heap->last->after : &heap->first) = block;
	heap->last = block;
	heap->bytes += BLOCK_BYTES;
	heap->n_blocks++;
	heap->weight += block->weight;
	heap->changed = true;
}

static void remove_block(struct live_heap *heap, struct live_block *block)
{
	(void)map_remove(&block->process->blocks, block->address);
	*(block->before ? &block->before->after : &heap->first) = block->after;
	*(block->after ? &block->after->before : &heap->last) = block->before;
	heap->bytes -= BLOCK_BYTES;
	heap->n_blocks--;
	heap->weight -= block->weight;
	heap->changed = true;
	give_stack_back(heap, block->stack);
	if (block->process->ended && map_count(&block->process->blocks) == 0)
		forget_process(heap, block->process);
	free(block);
}

/* Processes that have ended make room. */
static void drop_ended(struct live_heap *heap)
{
	struct live_block *after;

	for (struct live_block *block = heap->first; block && heap->n_ended; block = after) {
		after = block->after;
		if (!block->process->ended)
			continue;
		heap->left_out++;
		remove_block(heap, block);
	}
}

static bool has_room(struct live_heap *heap, const struct sample *sample)
{
	size_t bytes = BLOCK_BYTES + sizeof(struct live_stack) + 2 * (size_t)ENTRY_BYTES +
		       sizeof(struct live_process) + sample->n_frames * sizeof(sample->frames[0]);

	if (heap->bytes + bytes > heap->limit)
		drop_ended(heap);
	return heap->bytes + bytes <= heap->limit;
}

static struct live_block *block_new(struct live_heap *heap, const struct sample *sample,
				    uint64_t address)
{
	struct live_block *block = calloc(1, sizeof(*block));

	if (!block)
		return NULL;
	*block = (struct live_block){
		.address = address,
		.time_ns = sample->time_ns,
		.weight = sample->weight,
		.pid = sample->pid,
		.tid = sample->tid,
		.cpu = sample->cpu,
		.process = process_of(heap, sample->process),
	};
	memcpy(block->comm, sample->comm, sizeof(block->comm));
	if (block->process && map_put(&block->process->blocks, address, block) == 0) {
		block->stack = take_stack(heap, sample);
		if (block->stack)
			return block;
		(void)map_remove(&block->process->blocks, address);
	}
	free(block);
	return NULL;
}

static struct live_block *find(const struct live_heap *heap, uint32_t number, uint64_t address)
{
	struct live_process *process = map_get(&heap->processes, number);

	return process ? map_get(&process->blocks, address) : NULL;
}

void live_heap_sample(struct live_heap *heap, const struct sample *sample)
{
	uint64_t address = strtoull(sample->object, NULL, 16);
	struct live_block *block = find(heap, sample->process, address);

	/* Memory that is taken twice: its release was lost. */
	if (block)
		remove_block(heap, block);
	if (!address || !sample->op || strcmp(sample->op, "alloc") != 0)
		return;
	block = has_room(heap, sample) ? block_new(heap, sample, address) : NULL;
	if (block)
		append(heap, block);
	else
		heap->left_out++;
}

void live_heap_exit(struct live_heap *heap, uint32_t number)
{
	struct live_process *process = map_get(&heap->processes, number);

	if (!process || process->ended)
		return;
	process->ended = true;
	heap->n_ended++;
	if (map_count(&process->blocks) == 0)
		forget_process(heap, process);
}

void live_heap_each(const struct live_heap *heap,
		    void (*visit)(void *context, const struct sample *sample), void *context)
{
	struct sample sample = {.event = EVENT_ALLOC, .state = STATE_RUNNING, .op = "alloc"};

	for (const struct live_block *block = heap->first; block; block = block->after) {
		sample.time_ns = block->time_ns;
		sample.process = block->process->number;
		sample.pid = block->pid;
		sample.tid = block->tid;
		sample.cpu = block->cpu;
		sample.weight = block->weight;
		sample.frames = block->stack->frames;
		sample.n_frames = block->stack->n_frames;
		sample.truncated = block->stack->truncated;
		(void)snprintf(sample.object, sizeof(sample.object), "%" PRIx64, block->address);
		memcpy(sample.comm, block->comm, sizeof(sample.comm));
		visit(context, &sample);
	}
}

static void free_process(void *context, uint64_t key, void *value)
{
	(void)context;
	(void)key;
	map_release(&((struct live_process *)value)->blocks);
	free(value);
}

void live_heap_release(struct live_heap *heap)
{
	struct live_block *after;

	for (struct live_block *block = heap->first; block; block = after) {
		after = block->after;
		give_stack_back(heap, block->stack);
		free(block);
	}
	map_each(&heap->processes, free_process, NULL);
	map_release(&heap->processes);
	map_release(&heap->stacks);
	*heap = (struct live_heap){0};
}

enum { REST_TIMES = 19 /* as long as writing took */ };

int live_file_open(struct live_file *file, const struct recording_options *like,
		   const struct event_list *list, struct err *err)
{
	struct recording_options recording = *like;

	file->heap.limit = LIVE_HEAP_BYTES;
	file->flush_ns = like->flush_ns;
	hook_files_describe(&recording, EVENT_ALLOC, list);
	file->path = hook_files_path(like->path ? like->path : "wick.%c.%p.%t.perf", "live");
	if (!file->path)
		return err_set(err, ENOMEM, "name a file");
	recording.path = file->path;
	/* A block has no metrics: it is of another moment than the thread's next sample. */
	recording.text.metrics_mask = 0;
	groups_limit(&recording.text.groups, recording.text.metrics_mask);
	return snapshot_new(&recording, &file->snapshot, err);
}

void live_file_sample(struct live_file *file, const struct sample *sample, bool kept)
{
	if (file->snapshot && sample->event == EVENT_ALLOC && (kept || sample->weight == 0))
		live_heap_sample(&file->heap, sample);
}

static void add(void *context, const struct sample *sample)
{
	snapshot_add(context, sample);
}

static void write_now(struct live_file *file, struct collector *collector)
{
	struct collector_stats stats;

	collector_stats(collector, &stats);
	const struct perf_script_count counts[] = {
		{"lost_events", stats.lost_events},
		{"live_full", stats.live_full},
		{"live_left_out", file->heap.left_out},
	};

	file->heap.changed = false;
	if (snapshot_begin(file->snapshot) == 0)
		live_heap_each(&file->heap, add, file->snapshot);
	if (snapshot_end(file->snapshot, counts, sizeof(counts) / sizeof(counts[0])) < 0)
		file->heap.changed = true;
}

uint64_t live_file_due_ns(const struct live_file *file)
{
	return file->snapshot && file->heap.changed ? file->due_ns : UINT64_MAX;
}

void live_file_tick(struct live_file *file, struct collector *collector, uint64_t now_ns)
{
	uint64_t took_ns;

	if (now_ns < live_file_due_ns(file))
		return;
	write_now(file, collector);
	took_ns = io_now_ns() - now_ns;
	file->due_ns = now_ns + (took_ns * REST_TIMES > file->flush_ns ? took_ns * REST_TIMES
								       : file->flush_ns);
}

void live_file_finish(struct live_file *file, struct collector *collector)
{
	if (file->snapshot)
		write_now(file, collector);
}

void live_file_release(struct live_file *file)
{
	snapshot_free(file->snapshot);
	live_heap_release(&file->heap);
	free(file->path);
	*file = (struct live_file){0};
}
