/* quota.c - how much memory the rings of all processes may take */
#include "sampler/collector/ring/quota.h"

enum { BIG_SLOTS = RING_BIG_CHUNKS * RING_CHUNK_SLOTS };

static uint64_t bytes_of(uint32_t n_slots)
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
	n = BIG_SLOTS + (bytes - bytes_of(BIG_SLOTS)) / RING_SMALL_SLOT_BYTES;
	return n < RING_MAX_SLOTS ? (uint32_t)n : RING_MAX_SLOTS;
}

void room_limit(struct process *process, const struct process *others, uint64_t bytes)
{
	uint64_t used = 0;
	uint32_t n;

	if (!bytes)
		return;
	for (; others; others = others->next)
		used += bytes_of(others->n_slots);
	n = slots_in(bytes > used ? bytes - used : 0);
	if (n < RING_CHUNK_SLOTS)
		n = RING_CHUNK_SLOTS;
	if (n >= process->ring.max_slots)
		return;
	process->ring.max_slots = n;
	process->ring.header->max_slots = n;
}
