/* perf_ring.c - the kernel's part of stacks, from the ring of a perf event */
#include "sampler/collector/perf/perf_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What perf_open() requests: PERF_SAMPLE_TID, _TIME, _CALLCHAIN. */
struct head {
	struct perf_event_header header;
	uint32_t pid;
	uint32_t tid;
	uint64_t time_ns;
	uint64_t n_pcs;
};

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

int perf_ring_init(struct perf_ring *ret_ring, int fd)
{
	void *map = mmap(NULL, (1 + PERF_RING_PAGES) * page_bytes(), PROT_READ | PROT_WRITE,
			 MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	*ret_ring = (struct perf_ring){.map = map};
	return 0;
}

void perf_ring_release(struct perf_ring *ring)
{
	if (ring->map)
		(void)munmap(ring->map, (1 + PERF_RING_PAGES) * page_bytes());
	*ring = (struct perf_ring){0};
}

/* LEN bytes at AT, which may wrap around. */
static void copy(const struct perf_ring *ring, uint64_t at, void *to, size_t len)
{
	size_t size = PERF_RING_PAGES * page_bytes();
	const unsigned char *data = (const unsigned char *)ring->map + page_bytes();
	size_t from = (size_t)(at % size);
	size_t first = size - from < len ? size - from : len;

	memcpy(to, data + from, first);
	memcpy((unsigned char *)to + first, data, len - first);
}

/* The kernel's pcs without its context markers. */
static void take_pcs(struct perf_ring *ring, uint64_t at, uint64_t n)
{
	ring->n_pcs = 0;
	for (uint64_t i = 0; i < n && ring->n_pcs < PERF_RING_FRAMES; i++) {
		uint64_t pc;

		copy(ring, at + i * sizeof(pc), &pc, sizeof(pc));
		if (pc < (uint64_t)PERF_CONTEXT_MAX && pc >> 63)
			ring->pcs[ring->n_pcs++] = pc;
	}
}

/* Return: whether the record has passed: one of a later sample waits. */
static bool take(struct perf_ring *ring, uint64_t at, uint64_t left, uint64_t time_ns,
		 uint64_t *ret_bytes)
{
	struct head head = {0};

	copy(ring, at, &head.header, sizeof(head.header));
	if (head.header.size < sizeof(head.header) || head.header.size > left) {
		*ret_bytes = left;
		return true;
	}
	*ret_bytes = head.header.size;
	if (head.header.type != PERF_RECORD_SAMPLE || head.header.size < sizeof(head))
		return true;
	copy(ring, at, &head, sizeof(head));
	if (head.time_ns > time_ns)
		return false;
	if (head.n_pcs <= (head.header.size - sizeof(head)) / sizeof(uint64_t))
		take_pcs(ring, at + sizeof(head), head.n_pcs);
	return true;
}

uint32_t perf_ring_frames(struct perf_ring *ring, uint64_t time_ns, const uint64_t **ret_pcs)
{
	struct perf_event_mmap_page *page = ring->map;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = page->data_tail;
	uint64_t bytes;

	ring->n_pcs = 0;
	while (tail != head && take(ring, tail, head - tail, time_ns, &bytes))
		tail += bytes;
	/* The kernel may overwrite what has been copied. */
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
	*ret_pcs = ring->pcs;
	return ring->n_pcs;
}
