/*
 * pair_map.h - a hash map from pairs of numbers to a number, for trees that grow
 *
 * Context: any thread.
 */
#ifndef FLAMESCOPE_PAIR_MAP_H
#define FLAMESCOPE_PAIR_MAP_H

#include <stddef.h>
#include <stdint.h>

struct pair_slot {
	uint64_t key;
	uint32_t value; /* 0: empty */
};

/* Seeded anew each time: a file must not be able to choose pairs that collide. */
struct pair_map {
	struct pair_slot *slots;
	size_t n_slots; /* a power of two */
	size_t n;
	uint64_t seed;
};

/**
 * pair_map_init - an empty map
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller, to pair_map_release().
 */
int pair_map_init(struct pair_map *map);

/** pair_map_release - free it; a zeroed map is fine */
void pair_map_release(struct pair_map *map);

/**
 * pair_map_at - where a pair's number is, or is to be written
 *
 * Return:  the number's place, 0 in it when the pair is new: write one above 0 then.  NULL: no
 *          memory.
 * Owns:    the map; until the next call.
 */
uint32_t *pair_map_at(struct pair_map *map, uint32_t first, uint32_t second);

#endif
