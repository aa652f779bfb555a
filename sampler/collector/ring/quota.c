/* quota.c - how much memory the rings of all processes may take */
#include "sampler/collector/ring/quota.h"

enum { BIG_SLOTS = RING_BIG_CHUNKS * RING_CHUNK_SLOTS };

uint64_t room_bytes(uint32_t n_slots)
{
	uint64_t big = n_slots < BIG_SLOTS ? n_slots : BIG_SLOTS;

	return big * RING_BIG_SLOT_BYTES + (n_slots - big) * RING_SMALL_SLOT_BYTES;
}

static uint32_t slots_in(uint64_t bytes)
{
	uint64_t big = bytes / RING_BIG_SLOT_BYTES;
	uint64_t n;

	if (big <= BIG_SLOTS)
		return (uint32_t)big;
	n = BIG_SLOTS + (bytes - room_bytes(BIG_SLOTS)) / RING_SMALL_SLOT_BYTES;
	return n < RING_MAX_SLOTS ? (uint32_t)n : RING_MAX_SLOTS;
}

uint32_t room_slots(uint64_t limit_bytes, uint64_t used_bytes)
{
	uint32_t n;

	if (!limit_bytes)
		return RING_MAX_SLOTS;
	n = slots_in(limit_bytes > used_bytes ? limit_bytes - used_bytes : 0);
	return n < RING_CHUNK_SLOTS ? RING_CHUNK_SLOTS : n;
}
