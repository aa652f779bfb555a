/*
 * map.h - a hash map from 64-bit keys to pointers (uthash underneath)
 *
 * Context: any thread.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map_entry;

/* Zero is an empty map.  Not safe for two threads at once. */
struct map {
	struct map_entry *entries;
};

/**
 * map_put - set the value of a key
 *
 * Return:  0; -ENOMEM, and the map is as it was.
 * Owns:    the caller keeps what VALUE points to.
 */
int map_put(struct map *map, uint64_t key, void *value);

/**
 * map_get - the value of a key
 *
 * Return:  the value, NULL if there is none.
 */
void *map_get(const struct map *map, uint64_t key);

/**
 * map_remove - forget a key
 *
 * Return:  the value it had, NULL if there was none.
 */
void *map_remove(struct map *map, uint64_t key);

/** map_count - how many keys */
size_t map_count(const struct map *map);

/** map_each - call VISIT with every key and value; VISIT may remove the key it is given */
void map_each(struct map *map, void (*visit)(void *context, uint64_t key, void *value),
	      void *context);

/** map_free_values - free() every value and release the map */
void map_free_values(struct map *map);

/** map_release - forget all keys and give back the memory */
void map_release(struct map *map);

#endif
