/* number_table.c - open addressing; the keys are hashes already */
#include "flamescope/load/build/number_table.h"

#include <stdbool.h>

static struct number_slot *find(const struct number_table *table, struct text_hash key)
{
	size_t mask = table->size - 1;

	for (size_t at = key.low & mask;; at = (at + 1) & mask) {
		struct number_slot *slot = &table->slots[at];

		if (slot->number == NUMBER_NONE ||
		    (slot->key.low == key.low && slot->key.high == key.high))
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
	for (size_t i = 0; i < table->size; i++)
		if (table->slots[i].number != NUMBER_NONE)
			*find(&next, table->slots[i].key) = table->slots[i];
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
	*slot = (struct number_slot){.key = key, .number = number};
	return 0;
}

void number_table_release(struct number_table *table)
{
	free(table->slots);
	*table = (struct number_table){0};
}
