/* ring_forger.c - writes records of modules that are none into the rings that it shares with wick
 * usage: ring_forger THREADS SECONDS
 *
 * THREADS forge as fast as they are drained while the main thread works in innocent_work for
 * SECONDS; prints the CPU seconds of that and how many records were forged. */
#include "burn.h"

#include "sampler/wire/ring.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

BURN_FUNCTION(innocent_work)

enum { MAX_THREADS = 64, PAUSE_US = 500 };

static struct ring_header *header;
static unsigned char *chunks[RING_BIG_CHUNKS]; /* where they are mapped here; NULL: not */
static _Atomic bool ends;
static _Atomic unsigned long n_forged;

/* Which chunks a mapping of the rings' file has. */
static void take_mapping(unsigned char *start, uint64_t bytes, uint64_t offset)
{
	if (offset == 0)
		header = (struct ring_header *)(void *)start;
	for (uint32_t i = 0; i < RING_BIG_CHUNKS; i++) {
		uint64_t at = ring_chunk_offset(i);

		if (at >= offset && at < offset + bytes)
			chunks[i] = start + (at - offset);
	}
}

static void find_rings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[1024];

	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long start;
		unsigned long end;
		unsigned long offset;

		if (strstr(line, "memfd:wick-ring") &&
		    sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3)
			take_mapping((unsigned char *)start, end - start, offset);
	}
	if (maps)
		(void)fclose(maps);
}

/* The ring of this thread; the handler makes it with the first sample. */
static struct ring_slot *find_slot(uint32_t *ret_index)
{
	uint32_t tid = (uint32_t)syscall(SYS_gettid);

	find_rings();
	for (uint32_t i = 0; header && i < RING_BIG_CHUNKS * RING_CHUNK_SLOTS; i++) {
		unsigned char *chunk = chunks[i / RING_CHUNK_SLOTS];

		if (header->tids[i] != tid || !chunk)
			continue;
		*ret_index = i;
		return (struct ring_slot *)(void *)(chunk +
						    i % RING_CHUNK_SLOTS * RING_BIG_SLOT_BYTES);
	}
	return NULL;
}

static bool put(struct ring_slot *slot, const void *record, uint32_t bytes)
{
	uint64_t room = ring_data_bytes(0);
	uint64_t head = slot->head;
	uint64_t left = room - head % room;
	struct record pad = {.bytes = (uint32_t)left, .type = RECORD_PAD};

	if (head - slot->tail + left + bytes > room)
		return false;
	if (left < bytes) {
		memcpy(slot->data + head % room, &pad, sizeof(pad));
		head += left;
	}
	memcpy(slot->data + head % room, record, bytes);
	atomic_store_explicit(&slot->head, head + bytes, memory_order_release);
	return true;
}

static void forge(struct ring_slot *slot, uint32_t index)
{
	while (!ends) {
		unsigned long nth = atomic_fetch_add(&n_forged, 1);
		uint64_t start = 0x100000000000 + nth * 8192;
		struct record_module module = {
			.head = {.bytes = sizeof(module), .type = RECORD_MODULE},
			.time_ns = now_ns(),
			.start = start,
			.end = start + 4096,
			.bias = start};

		(void)snprintf(module.path, sizeof(module.path), "/forged/%0160lu.so", nth);
		while (!ends && !put(slot, &module, sizeof(module))) {
			atomic_fetch_or(&header->changed[index / 64], UINT64_C(1) << index % 64);
			(void)usleep(PAUSE_US);
		}
	}
}

static void *run(void *context)
{
	struct ring_slot *slot = NULL;
	uint32_t index = 0;
	sigset_t all;

	(void)context;
	while (!ends && !(slot = find_slot(&index)))
		innocent_work(1000000);
	/* From here on no other thread writes to it. */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_BLOCK, &all, NULL);
	if (slot)
		forge(slot, index);
	return NULL;
}

int main(int argc, char **argv)
{
	int n_threads = argc > 1 ? atoi(argv[1]) : 0;
	double seconds = argc > 2 ? strtod(argv[2], NULL) : 1;
	double began = clock_seconds(CLOCK_MONOTONIC);
	pthread_t threads[MAX_THREADS];

	for (int i = 0; i < n_threads && i < MAX_THREADS; i++)
		if (pthread_create(&threads[i], NULL, run, NULL) != 0)
			return 1;
	while (clock_seconds(CLOCK_MONOTONIC) - began < seconds)
		innocent_work(100000);
	ends = true;
	for (int i = 0; i < n_threads && i < MAX_THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	printf("%.3f %lu\n", thread_seconds(), n_forged);
	return 0;
}
