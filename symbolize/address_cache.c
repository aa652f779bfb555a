/* address_cache.c - a hash table of entries by address, and the list of requests */
#include "symbolize/address_cache.h"

#include <errno.h>
#include <stdlib.h>

/* The entry of an address that was requested, or is being looked up. */
static struct address_entry requested;

enum {
	FIRST_BITS = 6,
	MAX_FAR = 256, /* slots from its own; only addresses chosen by an attacker are as far */
};

/*
 * The slot of an address, or the free slot where it would be.  Addresses that share the upper bits
 * of their hash stay in order when the table grows, so growing makes no run longer.
 */
static struct address_slot *slot_of(const struct address_cache *cache, uint64_t vaddr,
				    size_t *ret_far)
{
	size_t mask = ((size_t)1 << cache->bits) - 1;
	size_t at = (size_t)(vaddr * UINT64_C(0x9e3779b97f4a7c15) >> (64 - cache->bits));

	for (*ret_far = 0;; ++*ret_far, at = (at + 1) & mask) {
		struct address_slot *slot = &cache->slots[at];

		if (!slot->entry || slot->vaddr == vaddr)
			return slot;
	}
}

static struct address_entry *find(const struct address_cache *cache, uint64_t vaddr)
{
	size_t far;

	return cache->slots ? slot_of(cache, vaddr, &far)->entry : NULL;
}

static int grow(struct address_cache *cache)
{
	struct address_cache grown = *cache;
	size_t far;

	grown.bits = cache->slots ? cache->bits + 1 : FIRST_BITS;
	grown.slots = calloc((size_t)1 << grown.bits, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; cache->slots && i >> cache->bits == 0; i++)
		if (cache->slots[i].entry)
			*slot_of(&grown, cache->slots[i].vaddr, &far) = cache->slots[i];
	free(cache->slots);
	*cache = grown;
	return 0;
}

/* The address has no slot yet. */
static int add(struct address_cache *cache, uint64_t vaddr, struct address_entry *entry)
{
	struct address_slot *slot;
	size_t far;
	int r;

	if (cache->n >= ADDRESS_CACHE_MAX)
		return -E2BIG;
	if (!cache->slots || 2 * cache->n >= (size_t)1 << cache->bits) {
		r = grow(cache);
		if (r < 0)
			return r;
	}
	slot = slot_of(cache, vaddr, &far);
	if (far > MAX_FAR)
		return -E2BIG;
	*slot = (struct address_slot){.vaddr = vaddr, .entry = entry};
	cache->n++;
	return 0;
}

const struct address_entry *address_cache_find(const struct address_cache *cache, uint64_t vaddr,
					       bool *ret_requested)
{
	const struct address_entry *entry = find(cache, vaddr);

	*ret_requested = entry == &requested;
	return *ret_requested ? NULL : entry;
}

int address_cache_request(struct address_cache *cache, uint64_t vaddr)
{
	int r;

	if (cache->n_requests == cache->room) {
		size_t room = cache->room ? 2 * cache->room : 64;
		uint64_t *grown = realloc(cache->requests, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		cache->requests = grown;
		cache->room = room;
	}
	r = add(cache, vaddr, &requested);
	if (r == 0)
		cache->requests[cache->n_requests++] = vaddr;
	return r;
}

size_t address_cache_take_requests(struct address_cache *cache, uint64_t **ret_addrs)
{
	size_t n = cache->n_requests;

	*ret_addrs = cache->requests;
	cache->requests = NULL;
	cache->n_requests = 0;
	cache->room = 0;
	return n;
}

struct address_entry *address_entry_new(size_t n_inlined)
{
	struct address_entry *entry =
		calloc(1, sizeof(*entry) + n_inlined * sizeof(entry->inlined[0]));

	if (entry)
		entry->n_inlined = (uint32_t)n_inlined;
	return entry;
}

int address_cache_add(struct address_cache *cache, uint64_t vaddr, struct address_entry *entry)
{
	struct address_entry *old = find(cache, vaddr);
	size_t far;

	if (!old)
		return add(cache, vaddr, entry);
	slot_of(cache, vaddr, &far)->entry = entry;
	if (old != &requested)
		free(old);
	return 0;
}

void address_cache_release(struct address_cache *cache)
{
	for (size_t i = 0; cache->slots && i >> cache->bits == 0; i++)
		if (cache->slots[i].entry != &requested)
			free(cache->slots[i].entry);
	free(cache->slots);
	free(cache->requests);
	*cache = (struct address_cache){0};
}
