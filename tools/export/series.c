/* series.c - which rows have series of their own, and what the others have together */
#include "tools/export/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* FNV-1a (Fowler, Noll, Vo).  Of two rows with one hash one begins to count from the other's past.
 */
static uint64_t hash_of(const char *labels)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *labels; labels++)
		hash = (hash ^ (unsigned char)*labels) * UINT64_C(0x100000001b3);
	return hash;
}

static struct series_slot *slot_of(struct series *top, const char *labels)
{
	for (size_t i = 0; i < SERIES_SLOTS; i++)
		if (top->slots[i].labels && strcmp(top->slots[i].labels, labels) == 0)
			return &top->slots[i];
	return NULL;
}

static void leave(struct series_slot *slot)
{
	free(slot->labels);
	*slot = (struct series_slot){0};
}

/* Rows that are no longer there, or are clearly out. */
static void remove_others(struct series *top, const struct series_row *rows, size_t n)
{
	size_t last = top->k + top->k / 2;

	for (size_t i = 0; i < SERIES_SLOTS; i++) {
		bool stays = false;

		if (!top->slots[i].labels)
			continue;
		for (size_t j = 0; j < n && j < last && !stays; j++)
			stays = rows[j].rank && strcmp(rows[j].labels, top->slots[i].labels) == 0;
		if (!stays)
			leave(&top->slots[i]);
	}
}

/* What a row had last time is in `other` for good; what has come since is not yet. */
static void take_base(const struct series *top, const struct series_row *row, uint64_t *base)
{
	uint64_t hash = hash_of(row->labels);

	for (size_t i = 0; i < top->n_past; i++)
		if (top->past[i].hash == hash) {
			memcpy(base, top->past[i].values, sizeof(top->past[i].values));
			return;
		}
}

static int enter(struct series *top, const struct series_row *row)
{
	for (size_t i = 0; i < SERIES_SLOTS; i++) {
		struct series_slot *slot = &top->slots[i];

		if (slot->labels)
			continue;
		slot->labels = strdup(row->labels);
		if (!slot->labels)
			return -ENOMEM;
		take_base(top, row, slot->base);
		return 0;
	}
	return 0; /* never: there are at most 1.5 k */
}

static int remember(struct series *top, const struct series_row *rows, size_t n)
{
	struct series_past *past = calloc(n ? n : 1, sizeof(*past));

	if (!past)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		past[i].hash = hash_of(rows[i].labels);
		memcpy(past[i].values, rows[i].values, sizeof(past[i].values));
	}
	free(top->past);
	top->past = past;
	top->n_past = n;
	return 0;
}

static void take(struct series *top, const struct series_row *rows, size_t n,
		 struct series_choice *choice)
{
	*choice = (struct series_choice){0};
	for (size_t i = 0; i < n; i++) {
		const struct series_slot *slot = slot_of(top, rows[i].labels);

		for (size_t j = 0; j < top->n_values; j++) {
			uint64_t value = rows[i].values[j];
			uint64_t own = slot && value > slot->base[j] ? value - slot->base[j] : 0;

			if (slot)
				choice->values[choice->n][j] = own;
			choice->other[j] += value - own;
			choice->others |= value > own;
		}
		if (slot)
			choice->rows[choice->n++] = i;
	}
}

int series_choose(struct series *top, const struct series_row *rows, size_t n,
		  struct series_choice *ret_choice)
{
	remove_others(top, rows, n);
	for (size_t i = 0; i < n && i < top->k && rows[i].rank; i++)
		if (!slot_of(top, rows[i].labels) && enter(top, &rows[i]) < 0)
			return -ENOMEM;
	take(top, rows, n, ret_choice);
	return remember(top, rows, n);
}

void series_forget(struct series *top)
{
	for (size_t i = 0; i < SERIES_SLOTS; i++)
		leave(&top->slots[i]);
	free(top->past);
	top->past = NULL;
	top->n_past = 0;
}
