/* intern.c - one copy of each string, at an address that stays */
#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
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
