/* intern.c - one copy of each string, at an address that stays: a table of slots and chunks */
#include "base/intern.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_SLOTS = 64, CHUNK_BYTES = 64 * 1024 };

/* Open addressing, at most half full. */
struct intern_slot {
	const char *text; /* NULL: free */
	uint32_t hash;
	uint32_t len;
};

struct intern_chunk {
	struct intern_chunk *next;
	char text[];
};

static uint64_t fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Eight bytes at a time: names of C++ have hundreds.  Names come from strangers, so that the
 * table's own secret goes into every step: names cannot be chosen to collide. */
static uint32_t hash_bytes(uint64_t secret, const char *text, size_t len)
{
	uint64_t hash = secret ^ len;
	uint64_t word;

	for (; len >= sizeof(word); text += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		hash = fold(hash ^ word, secret ^ UINT64_C(0x9e3779b97f4a7c15));
	}
	word = 0;
	memcpy(&word, text, len);
	hash = fold(hash ^ word, secret ^ UINT64_C(0xff51afd7ed558ccd));
	return (uint32_t)(hash ^ hash >> 32);
}

/* The slot of a string, or the free one where it would be. */
static struct intern_slot *find(const struct intern *table, const char *text, size_t len,
				uint32_t hash)
{
	for (size_t i = hash;; i++) {
		struct intern_slot *slot = &table->slots[i & (table->n_slots - 1)];

		if (!slot->text ||
		    (slot->hash == hash && slot->len == len && memcmp(slot->text, text, len) == 0))
			return slot;
	}
}

static void move_slots(struct intern *table, const struct intern_slot *from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t at = from[i].hash;

		if (!from[i].text)
			continue;
		while (table->slots[at & (table->n_slots - 1)].text)
			at++;
		table->slots[at & (table->n_slots - 1)] = from[i];
	}
}

static bool make_room(struct intern *table)
{
	size_t n_slots = table->n_slots ? 2 * table->n_slots : FIRST_SLOTS;
	struct intern_slot *old = table->slots;
	size_t n_old = table->n_slots;
	struct intern_slot *slots;

	if (2 * (table->n + 1) <= table->n_slots)
		return true;
	slots = calloc(n_slots, sizeof(*slots));
	if (!slots)
		return false;
	/* Without randomness the names are as good, only not safe from strangers. */
	if (!n_old && getentropy(&table->secret, sizeof(table->secret)) < 0)
		table->secret = (uintptr_t)slots;
	table->slots = slots;
	table->n_slots = n_slots;
	move_slots(table, old, n_old);
	free(old);
	return true;
}

/* LEN bytes and a NUL, in a chunk of their own when they are many. */
static char *keep(struct intern *table, const char *text, size_t len)
{
	size_t n_bytes = len + 1 > CHUNK_BYTES / 4 ? len + 1 : CHUNK_BYTES;
	char *kept = table->free_at;

	if (len >= table->n_free) {
		struct intern_chunk *chunk = malloc(sizeof(*chunk) + n_bytes);

		if (!chunk)
			return NULL;
		chunk->next = table->chunks;
		table->chunks = chunk;
		kept = chunk->text;
		if (n_bytes == CHUNK_BYTES) {
			table->free_at = kept;
			table->n_free = n_bytes;
		}
	}
	memcpy(kept, text, len);
	kept[len] = '\0';
	if (kept == table->free_at) {
		table->free_at += len + 1;
		table->n_free -= len + 1;
	}
	return kept;
}

const char *intern_bytes(struct intern *table, const char *text, size_t len)
{
	struct intern_slot *slot;
	uint32_t hash;
	char *kept;

	if (len >= UINT32_MAX || !make_room(table))
		return NULL;
	hash = hash_bytes(table->secret, text, len);
	slot = find(table, text, len, hash);
	if (slot->text)
		return slot->text;
	kept = keep(table, text, len);
	if (!kept)
		return NULL;
	*slot = (struct intern_slot){.text = kept, .hash = hash, .len = (uint32_t)len};
	table->n++;
	return kept;
}

const char *intern_string(struct intern *table, const char *text)
{
	return intern_bytes(table, text, strlen(text));
}

void intern_release(struct intern *table)
{
	while (table->chunks) {
		struct intern_chunk *next = table->chunks->next;

		free(table->chunks);
		table->chunks = next;
	}
	free(table->slots);
	*table = (struct intern){0};
}
