/* ring_view.c - the collector's side of one process's rings */
#include "sampler/collector/ring/ring_view.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { BIG_SLOTS = RING_BIG_CHUNKS * RING_CHUNK_SLOTS };

uint64_t ring_quota_bytes(uint32_t n_slots)
{
	uint64_t big = n_slots < BIG_SLOTS ? n_slots : BIG_SLOTS;

	return big * RING_BIG_SLOT_BYTES + (n_slots - big) * RING_SMALL_SLOT_BYTES;
}

uint32_t ring_quota_slots(uint64_t limit_bytes, uint64_t used_bytes)
{
	uint64_t bytes = limit_bytes > used_bytes ? limit_bytes - used_bytes : 0;
	uint64_t n = bytes / RING_BIG_SLOT_BYTES;

	if (!limit_bytes)
		return RING_MAX_SLOTS;
	if (n > BIG_SLOTS)
		n = BIG_SLOTS + (bytes - ring_quota_bytes(BIG_SLOTS)) / RING_SMALL_SLOT_BYTES;
	if (n < RING_CHUNK_SLOTS)
		n = RING_CHUNK_SLOTS;
	return n < RING_MAX_SLOTS ? (uint32_t)n : RING_MAX_SLOTS;
}

enum { JITTER_PCT = 10 };

/* The most chunks that a file of this process may hold. */
static uint32_t chunks_allowed(void)
{
	struct rlimit limit;
	uint32_t n = RING_MAX_CHUNKS;

	if (getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return n;
	while (n > 0 && ring_chunk_offset(n) > limit.rlim_cur)
		n--;
	return n;
}

static int make_file(uint32_t n_chunks)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	_cleanup_fd_ int fd = memfd_create("wick-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)ring_chunk_offset(n_chunks)) < 0)
		return -errno;
	if (fcntl(fd, F_ADD_SEALS, seals) < 0)
		return -errno;
	return steal_fd(&fd);
}

int ring_view_init(struct ring_view *ret_view, uint64_t period_ns, uint32_t hz,
		   enum ring_discovery discovery)
{
	uint32_t n_chunks = chunks_allowed();
	struct ring_view view = {.fd = -1, .max_slots = n_chunks * RING_CHUNK_SLOTS};
	void *header;

	if (n_chunks == 0)
		return -EFBIG;
	view.fd = make_file(n_chunks);
	if (view.fd < 0)
		return view.fd;
	header = mmap(NULL, RING_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, view.fd, 0);
	if (header == MAP_FAILED) {
		int r = -errno;

		(void)close(view.fd);
		return r;
	}
	view.header = header;
	view.header->magic = WIRE_MAGIC;
	view.header->version = WIRE_VERSION;
	view.header->period_ns = period_ns;
	view.header->hz = hz;
	view.header->discovery = discovery;
	view.header->max_slots = view.max_slots;
	view.header->jitter_pct = JITTER_PCT;
	*ret_view = view;
	return 0;
}

void ring_view_release(struct ring_view *view)
{
	for (uint32_t i = 0; i < view->n_chunks; i++)
		if (view->chunks[i])
			(void)munmap(view->chunks[i], ring_chunk_bytes(i));
	free(view->chunks);
	if (view->header)
		(void)munmap(view->header, RING_HEADER_BYTES);
	if (view->fd >= 0)
		(void)close(view->fd);
	*view = (struct ring_view){.fd = -1};
}

uint32_t ring_view_n_slots(const struct ring_view *view)
{
	uint32_t n_slots = atomic_load_explicit(&view->header->n_slots, memory_order_acquire);
	uint32_t n_chunks = atomic_load_explicit(&view->header->n_chunks, memory_order_acquire);

	if (n_slots > view->max_slots)
		n_slots = view->max_slots;
	if (n_chunks < n_slots / RING_CHUNK_SLOTS + (n_slots % RING_CHUNK_SLOTS != 0))
		n_slots = n_chunks * RING_CHUNK_SLOTS;
	return n_slots;
}

bool ring_view_has_news(const struct ring_view *view)
{
	uint32_t n_slots = ring_view_n_slots(view);

	for (uint32_t i = 0; i < n_slots; i += NEWS_BITS)
		/* Relaxed: who then takes it is what pairs with slot_leave(). */
		if (atomic_load_explicit(&view->header->changed[i / NEWS_BITS],
					 memory_order_relaxed))
			return true;
	return false;
}

static int grow(struct ring_view *view, uint32_t n_chunks)
{
	unsigned char **chunks = realloc(view->chunks, n_chunks * sizeof(*chunks));

	if (!chunks)
		return -ENOMEM;
	for (uint32_t i = view->n_chunks; i < n_chunks; i++)
		chunks[i] = NULL;
	view->chunks = chunks;
	view->n_chunks = n_chunks;
	return 0;
}

struct ring_slot *ring_view_slot(struct ring_view *view, uint32_t slot)
{
	uint32_t chunk = slot / RING_CHUNK_SLOTS;

	if (slot >= view->max_slots)
		return NULL;
	if (chunk >= view->n_chunks && grow(view, chunk + 1) < 0)
		return NULL;
	if (!view->chunks[chunk]) {
		void *bytes = mmap(NULL, ring_chunk_bytes(chunk), PROT_READ | PROT_WRITE,
				   MAP_SHARED, view->fd, (off_t)ring_chunk_offset(chunk));

		if (bytes == MAP_FAILED)
			return NULL;
		view->chunks[chunk] = bytes;
	}
	return (void *)(view->chunks[chunk] + slot % RING_CHUNK_SLOTS * ring_slot_bytes(chunk));
}
