/* map.c - a hash map from 64-bit keys to pointers */
#include "base/map.h"

#include <errno.h>
#include <stdlib.h>

/* A failed allocation inside uthash must not exit: the entry stays out, and we see it. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/*
 * Short chains: each link of one is a miss of the cache in maps of thousands.  This gives two to
 * three buckets a key; with 2, some of 10,000 keys meet so often that there are 33 million.
 */
#undef HASH_BKT_CAPACITY_THRESH
#define HASH_BKT_CAPACITY_THRESH 6U

struct map_entry {
	uint64_t key;
	void *value;
	UT_hash_handle hh;
};

static struct map_entry *find(const struct map *map, uint64_t key)
{
	struct map_entry *entry;

	HASH_FIND(hh, map->entries, &key, sizeof(key), entry);
	return entry;
}

int map_put(struct map *map, uint64_t key, void *value)
{
	struct map_entry *entry = find(map, key);

	if (!entry) {
		entry = calloc(1, sizeof(*entry));
		if (!entry)
			return -ENOMEM;
		entry->key = key;
		HASH_ADD(hh, map->entries, key, sizeof(entry->key), entry);
		if (!entry->hh.tbl) {
			free(entry);
			return -ENOMEM;
		}
	}
	entry->value = value;
	return 0;
}

void *map_get(const struct map *map, uint64_t key)
{
	const struct map_entry *entry = find(map, key);

	return entry ? entry->value : NULL;
}

void *map_remove(struct map *map, uint64_t key)
{
	struct map_entry *entry = find(map, key);
	void *value;

	if (!entry)
		return NULL;
	value = entry->value;
	HASH_DEL(map->entries, entry);
	free(entry);
	return value;
}

size_t map_count(const struct map *map)
{
	return HASH_COUNT(map->entries);
}

void map_each(struct map *map, void (*visit)(void *context, uint64_t key, void *value),
	      void *context)
{
	struct map_entry *entry;
	struct map_entry *next;

	HASH_ITER(hh, map->entries, entry, next) {
		visit(context, entry->key, entry->value);
	}
}

void map_release(struct map *map)
{
	struct map_entry *entry = map->entries;

	HASH_CLEAR(hh, map->entries); /* the entries stay linked */
	while (entry) {
		struct map_entry *next = entry->hh.next;

		free(entry);
		entry = next;
	}
}

void map_free_values(struct map *map)
{
	for (struct map_entry *entry = map->entries; entry; entry = entry->hh.next)
		free(entry->value);
	map_release(map);
}
