/* intern.c - one copy of each string, at an address that stays */
#include "base/intern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Eight bytes at a time: names of C++ have hundreds, and uthash's own takes them one by one. */
static unsigned hash_bytes(const char *text, size_t len)
{
	uint64_t hash = len * UINT64_C(0x9e3779b97f4a7c15);
	uint64_t word;

	for (; len >= sizeof(word); text += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
		hash ^= hash >> 32;
	}
	word = 0;
	memcpy(&word, text, len);
	hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
	return (unsigned)(hash ^ hash >> 32);
}

#define HASH_NONFATAL_OOM              1
#define HASH_FUNCTION(text, len, hash) ((hash) = hash_bytes((const char *)(text), (len)))
#include <uthash.h>

struct intern_entry {
	UT_hash_handle hh;
	char text[];
};

const char *intern_bytes(struct intern *table, const char *text, size_t len)
{
	struct intern_entry *entry;

	HASH_FIND(hh, table->entries, text, len, entry);
	if (entry)
		return entry->text;
	entry = calloc(1, sizeof(*entry) + len + 1);
	if (!entry)
		return NULL;
	memcpy(entry->text, text, len);
	HASH_ADD_KEYPTR(hh, table->entries, entry->text, len, entry);
	if (!entry->hh.tbl) {
		free(entry);
		return NULL;
	}
	return entry->text;
}

const char *intern_string(struct intern *table, const char *text)
{
	return intern_bytes(table, text, strlen(text));
}

void intern_release(struct intern *table)
{
	struct intern_entry *entry = table->entries;

	HASH_CLEAR(hh, table->entries); /* the entries stay linked */
	while (entry) {
		struct intern_entry *next = entry->hh.next;

		free(entry);
		entry = next;
	}
}
