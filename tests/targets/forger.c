/* forger.c - finds the rings that wick shares with it, and writes forged samples there
 * usage: forger SECONDS KIND; KIND: samples, weights, deep, times, periods, threads */
#include "burn.h"
#include "sampler/wire/ring.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PERIOD_NS = 10101010, SLOTS = 16 };

union forged {
	struct record_sample sample;
	unsigned char bytes[sizeof(struct record_sample) + RECORD_MAX_PCS * sizeof(uint64_t)];
};

/* Return: the header and the first chunk, as the agent has mapped them; NULL: not there. */
static unsigned char *find_ring(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned char *found = NULL;
	char line[512];

	while (maps && !found && fgets(line, sizeof(line), maps)) {
		uint64_t start;
		uint64_t offset;

		if (strstr(line, "memfd:wick") &&
		    sscanf(line, "%" SCNx64 "-%*x %*s %" SCNx64, &start, &offset) == 2 &&
		    offset == 0)
			found = (unsigned char *)(uintptr_t)start; /* NOLINT */
	}
	if (maps)
		(void)fclose(maps);
	return found;
}

static struct ring_slot *slot_of(unsigned char *ring, uint32_t index)
{
	return (void *)(ring + ring_chunk_offset(0) + index * ring_slot_bytes(0));
}

/* One sample of KIND; its pcs are all in the program. */
static size_t forge(union forged *record, const char *kind, uint32_t tid, uint64_t n)
{
	uint32_t n_pcs = strcmp(kind, "deep") == 0 ? RECORD_MAX_PCS : 32;
	struct record_sample *sample = &record->sample;

	memset(sample, 0, sizeof(*sample));
	sample->head.type = RECORD_SAMPLE;
	sample->head.bytes = (uint32_t)(sizeof(*sample) + n_pcs * sizeof(sample->pcs[0]));
	sample->time_ns = strcmp(kind, "times") == 0 ? now_ns() - n % 1000000000 : now_ns();
	sample->tid = tid;
	sample->weight = strcmp(kind, "weights") == 0 ? 1000000 : 1;
	sample->period_ns = strcmp(kind, "periods") == 0 ? 1 : PERIOD_NS;
	sample->n_pcs = (uint16_t)n_pcs;
	for (uint32_t i = 0; i < n_pcs; i++)
		sample->pcs[i] = (uint64_t)(uintptr_t)forge + (n * 7 + i) % 4096;
	return sample->head.bytes;
}

static bool put(unsigned char *ring, uint32_t index, const union forged *record, size_t bytes)
{
	struct ring_slot *slot = slot_of(ring, index);
	uint64_t size = ring_data_bytes(0);
	uint64_t head = atomic_load(&slot->head);
	uint64_t whole = size - head % size;
	struct record pad = {.bytes = (uint32_t)whole, .type = RECORD_PAD};

	if (head - atomic_load(&slot->tail) + bytes + (whole < bytes ? whole : 0) > size)
		return false;
	if (whole < bytes) {
		memcpy(slot->data + head % size, &pad, sizeof(pad));
		head += whole;
	}
	memcpy(slot->data + head % size, record, bytes);
	atomic_store(&slot->head, head + bytes);
	return true;
}

/* Writes of KIND as fast as wick reads.  Return: how many. */
static uint64_t forge_for(unsigned char *ring, double seconds, const char *kind)
{
	struct ring_header *header = (void *)ring;
	const uint64_t until_ns = now_ns() + (uint64_t)(seconds * 1e9);
	static union forged record;
	uint64_t n = 0;
	uint32_t slot = 0;

	if (strcmp(kind, "threads") == 0)
		for (uint32_t i = 1; i < SLOTS; i++)
			atomic_store(&header->tids[i], (uint32_t)getpid() + i);
	atomic_store(&header->n_slots, SLOTS);
	while (now_ns() < until_ns) {
		/* The first slot is our own thread's, and the handler's. */
		slot = slot % (SLOTS - 1) + 1;
		if (put(ring, slot, &record,
			forge(&record, kind, (uint32_t)getpid() + (slot & 1), n)))
			n++;
		atomic_fetch_or(&header->changed[0], UINT64_C(1) << slot);
	}
	return n;
}

int main(int argc, char **argv)
{
	unsigned char *ring = argc == 3 ? find_ring() : NULL;

	if (!ring) {
		(void)fprintf(stderr, "forger: no ring here\n");
		return 2;
	}
	(void)printf("%" PRIu64 " samples were forged\n",
		     forge_for(ring, strtod(argv[1], NULL), argv[2]));
	return 0;
}
