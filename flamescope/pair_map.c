/* pair_map.c - a hash map from pairs of numbers to a number, for trees that grow */
#include "flamescope/pair_map.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { FIRST_SLOTS = 1024 };

int pair_map_init(struct pair_map *map)
{
	*map = (struct pair_map){.n_slots = FIRST_SLOTS};
	map->slots = calloc(map->n_slots, sizeof(*map->slots));
	if (!map->slots)
		return -ENOMEM;
	/* Without a random number it is a hash map all the same. */
	if (getentropy(&map->seed, sizeof(map->seed)) < 0)
		map->seed = (uintptr_t)map->slots;
	return 0;
}

void pair_map_release(struct pair_map *map)
{
	free(map->slots);
	*map = (struct pair_map){0};
}

/* The finaliser of MurmurHash3: every bit of the key moves every bit of the hash. */
static uint64_t mix(uint64_t key)
{
	key ^= key >> 33;
	key *= 0xff51afd7ed558ccdULL;
	key ^= key >> 33;
	key *= 0xc4ceb9fe1a85ec53ULL;
	return key ^ (key >> 33);
}

static struct pair_slot *find(const struct pair_map *map, uint64_t key)
{
	size_t mask = map->n_slots - 1;
	size_t at = mix(key ^ map->seed) & mask;

	while (map->slots[at].value != 0 && map->slots[at].key != key)
		at = (at + 1) & mask;
	return &map->slots[at];
}

static int grow(struct pair_map *map)
{
	struct pair_map larger = {.n_slots = map->n_slots * 2, .n = map->n, .seed = map->seed};

	larger.slots = calloc(larger.n_slots, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < map->n_slots; i++) {
		if (map->slots[i].value != 0)
			*find(&larger, map->slots[i].key) = map->slots[i];
	}
	free(map->slots);
	*map = larger;
	return 0;
}

uint32_t *pair_map_at(struct pair_map *map, uint32_t first, uint32_t second)
{
	uint64_t key = (uint64_t)first << 32 | second;
	struct pair_slot *slot = find(map, key);

	if (slot->value != 0)
		return &slot->value;
	if ((map->n + 1) * 2 > map->n_slots) {
		if (grow(map) < 0)
			return NULL;
		slot = find(map, key);
	}
	slot->key = key;
	map->n++;
	return &slot->value;
}
