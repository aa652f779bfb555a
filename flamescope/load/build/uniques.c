/* uniques.c - tables of unique things, each found by the hash of all that it is */
#include "flamescope/load/build/uniques.h"

#include <stdbool.h>

static struct number_slot *find(const struct number_table *table, struct text_hash key)
{
	size_t mask = table->size - 1;

	for (size_t at = key.low & mask;; at = (at + 1) & mask) {
		struct number_slot *slot = &table->slots[at];

		if (slot->number == NUMBER_NONE || (slot->low == key.low && slot->high == key.high))
			return slot;
	}
}

uint32_t number_table_get(const struct number_table *table, struct text_hash key)
{
	return table->size ? find(table, key)->number : NUMBER_NONE;
}

static bool grow(struct number_table *table, struct budget *budget)
{
	struct number_table next = {.size = table->size ? 2 * table->size : 256};

	next.slots = budget_grow(budget, NULL, 0, next.size, sizeof(*next.slots));
	if (!next.slots)
		return false;
	for (size_t i = 0; i < next.size; i++)
		next.slots[i].number = NUMBER_NONE;
	for (size_t i = 0; i < table->size; i++) {
		const struct number_slot *slot = &table->slots[i];

		if (slot->number != NUMBER_NONE)
			*find(&next, (struct text_hash){slot->low, slot->high}) = *slot;
	}
	next.used = table->used;
	free(table->slots);
	*table = next;
	return true;
}

int number_table_put(struct number_table *table, struct budget *budget, struct text_hash key,
		     uint32_t number)
{
	struct number_slot *slot;

	if (2 * (table->used + 1) > table->size && !grow(table, budget))
		return -atomic_load_explicit(&budget->failed, memory_order_relaxed);
	slot = find(table, key);
	if (slot->number == NUMBER_NONE)
		table->used++;
	*slot = (struct number_slot){.low = key.low, .high = key.high, .number = number};
	return 0;
}

void number_table_release(struct number_table *table)
{
	free(table->slots);
	*table = (struct number_table){0};
}

/* No number may be NUMBER_NONE. */
enum { MAX_UNIQUES = UINT32_MAX - 1 };

/* Room for one more of SIZE bytes after N; false when it is refused. */
static bool make_room(struct budget *budget, void **array, size_t n, size_t *max, size_t size)
{
	size_t more = *max ? 2 * *max : 64;
	void *grown;

	if (n < *max)
		return true;
	if (n >= MAX_UNIQUES) {
		budget_fail(budget, E2BIG);
		return false;
	}
	grown = budget_grow(budget, *array, *max, more, size);
	if (!grown)
		return false;
	*array = grown;
	*max = more;
	return true;
}

void uniques_init(struct uniques *uniques, struct budget *budget)
{
	*uniques = (struct uniques){.budget = budget};
	(void)uniques_string(uniques, "", 0);
	if (make_room(budget, (void **)&uniques->nodes, 0, &uniques->max_nodes,
		      sizeof(*uniques->nodes)))
		uniques->nodes[uniques->n_nodes++] = (struct profile_node){0};
}

void uniques_release(struct uniques *uniques)
{
	free(uniques->bytes);
	free(uniques->starts);
	free(uniques->frames);
	free(uniques->nodes);
	free(uniques->threads);
	number_table_release(&uniques->string_table);
	number_table_release(&uniques->frame_table);
	number_table_release(&uniques->node_table);
	number_table_release(&uniques->thread_table);
	*uniques = (struct uniques){0};
}

static bool make_bytes(struct uniques *uniques, size_t len)
{
	size_t max = uniques->max_bytes ? uniques->max_bytes : 64 * 1024;
	char *bytes;

	while (max - uniques->n_bytes < len)
		max *= 2;
	if (max == uniques->max_bytes)
		return true;
	bytes = budget_grow(uniques->budget, uniques->bytes, uniques->max_bytes, max, 1);
	if (!bytes)
		return false;
	uniques->bytes = bytes;
	uniques->max_bytes = max;
	return true;
}

uint32_t uniques_string(struct uniques *uniques, const char *text, size_t len)
{
	struct text_hash key = text_hash(text, len);
	uint32_t number = number_table_get(&uniques->string_table, key);

	if (number != NUMBER_NONE)
		return number;
	if (!make_bytes(uniques, len + 1) ||
	    !make_room(uniques->budget, (void **)&uniques->starts, uniques->n_strings,
		       &uniques->max_strings, sizeof(*uniques->starts)) ||
	    number_table_put(&uniques->string_table, uniques->budget, key,
			     (uint32_t)uniques->n_strings) < 0)
		return 0;
	memcpy(uniques->bytes + uniques->n_bytes, text, len);
	uniques->bytes[uniques->n_bytes + len] = '\0';
	uniques->starts[uniques->n_strings] = uniques->n_bytes;
	uniques->n_bytes += len + 1;
	return (uint32_t)uniques->n_strings++;
}

const char *uniques_text(const struct uniques *uniques, uint32_t string)
{
	return uniques->bytes + uniques->starts[string];
}

uint32_t uniques_frame(struct uniques *uniques, const struct profile_frame *frame, uint64_t at)
{
	/* Two functions of one name begin at different places of a page, most likely. */
	const uint64_t place = uniques->by_offset ? frame->offset << 12 | (frame->addr & 0xfff) : 0;
	struct text_hash key = text_hash_pair((uint64_t)frame->name << 32 | frame->module,
					      place << 1 | frame->inlined);
	uint32_t number = number_table_get(&uniques->frame_table, key);

	if (number != NUMBER_NONE) {
		struct unique_frame *known = &uniques->frames[number];

		if (at < known->at)
			*known = (struct unique_frame){.frame = *frame, .at = at};
		return number;
	}
	if (!make_room(uniques->budget, (void **)&uniques->frames, uniques->n_frames,
		       &uniques->max_frames, sizeof(*uniques->frames)) ||
	    number_table_put(&uniques->frame_table, uniques->budget, key,
			     (uint32_t)uniques->n_frames) < 0)
		return 0;
	uniques->frames[uniques->n_frames] = (struct unique_frame){.frame = *frame, .at = at};
	return (uint32_t)uniques->n_frames++;
}

uint32_t uniques_node(struct uniques *uniques, uint32_t parent, uint32_t frame)
{
	struct text_hash key = text_hash_pair(parent, frame);
	uint32_t number = number_table_get(&uniques->node_table, key);

	if (number != NUMBER_NONE)
		return number;
	if (!make_room(uniques->budget, (void **)&uniques->nodes, uniques->n_nodes,
		       &uniques->max_nodes, sizeof(*uniques->nodes)) ||
	    number_table_put(&uniques->node_table, uniques->budget, key,
			     (uint32_t)uniques->n_nodes) < 0)
		return 0;
	uniques->nodes[uniques->n_nodes] = (struct profile_node){.parent = parent, .frame = frame};
	return (uint32_t)uniques->n_nodes++;
}

uint32_t uniques_thread(struct uniques *uniques, const struct unique_thread *thread)
{
	struct text_hash key =
		text_hash_pair((uint64_t)thread->comm << 32 | thread->file,
			       (uint64_t)(uint32_t)thread->pid << 32 | (uint32_t)thread->tid);
	uint32_t number = number_table_get(&uniques->thread_table, key);

	if (number != NUMBER_NONE)
		return number;
	if (!make_room(uniques->budget, (void **)&uniques->threads, uniques->n_threads,
		       &uniques->max_threads, sizeof(*uniques->threads)) ||
	    number_table_put(&uniques->thread_table, uniques->budget, key,
			     (uint32_t)uniques->n_threads) < 0)
		return 0;
	uniques->threads[uniques->n_threads] = *thread;
	return (uint32_t)uniques->n_threads++;
}
