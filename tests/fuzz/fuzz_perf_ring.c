/* fuzz_perf_ring.c - whatever stands in the ring of a perf event, frames are few and the kernel's
 */
#include "sampler/collector/perf/perf_ring.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

enum { ROUNDS = 4 };

/* The input, again and again, over the ring; what it wraps around is seen as well. */
static void fill(unsigned char *data, size_t bytes, const uint8_t *input, size_t size)
{
	for (size_t at = 0; at < bytes && size; at += size)
		memcpy(data + at, input, bytes - at < size ? bytes - at : size);
}

/* Where the reader and the kernel are, then what the kernel wrote. */
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t bytes = PERF_RING_PAGES * page;
	struct perf_ring ring = {.map = NULL};
	struct perf_event_mmap_page *head;
	const uint64_t *pcs;
	uint64_t at[2];

	if (size < sizeof(at))
		return 0;
	memcpy(at, input, sizeof(at));
	ring.map = calloc(1, page + bytes);
	if (!ring.map)
		return 0;
	head = ring.map;
	head->data_tail = at[0];
	head->data_head = at[0] + at[1] % (bytes + 1);
	fill((unsigned char *)ring.map + page, bytes, input + sizeof(at), size - sizeof(at));
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		uint32_t n = perf_ring_frames(&ring, round * (UINT64_MAX / ROUNDS), &pcs);

		if (n > PERF_RING_FRAMES || head->data_head - head->data_tail > bytes)
			abort();
		for (uint32_t i = 0; i < n; i++)
			if (!(pcs[i] >> 63))
				abort();
	}
	free(ring.map);
	return 0;
}
