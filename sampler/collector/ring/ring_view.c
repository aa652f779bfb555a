/* ring_view.c - the collector's side of one process's rings */
#include "sampler/collector/ring/ring_view.h"

#include "base/cleanup.h"
#include "sampler/collector/event/event.h"
#include "sampler/procfs/proc_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static bool pcs_hold(const uint64_t *pcs, uint32_t n_pcs)
{
	for (uint32_t i = 0; i < n_pcs; i++)
		if ((pcs[i] & ~PC_EXACT) >= USER_ADDRESS_END)
			return false;
	return true;
}

/* What is behind the pcs: REST bytes, a multiple of 8. */
static bool context_holds(const struct record_context *context, size_t rest)
{
	size_t data;

	if (rest == 0)
		return true;
	if (rest < sizeof(*context) || context->bytes > CONTEXT_MAX_BYTES || !context->serial)
		return false;
	data = ((size_t)context->bytes + 7) & ~(size_t)7;
	if (rest != sizeof(*context) + data)
		return false;
	switch (context->format) {
	case CONTEXT_OTEL:
		return context->bytes >= OTEL_RECORD_HEAD;
	case CONTEXT_WICK:
		return context->bytes == sizeof(struct context_value);
	case CONTEXT_LABELS:
		return context->bytes <= CONTEXT_MAX_ATTRS;
	default:
		return false;
	}
}

/* Whether N_PCS, 1 at least, and what follows them are what a record of BYTES holds after HEAD. */
static bool tail_holds(uint32_t bytes, size_t head, const uint64_t *pcs, uint32_t n_pcs)
{
	size_t before = head + n_pcs * sizeof(pcs[0]);

	return n_pcs >= 1 && n_pcs <= RECORD_MAX_PCS && bytes >= before &&
	       context_holds((const void *)(pcs + n_pcs), bytes - before) && pcs_hold(pcs, n_pcs);
}

static bool sample_holds(const struct record_sample *sample)
{
	if (sample->tid == 0 || sample->tid > INT32_MAX || sample->weight == 0 ||
	    sample->period_ns == 0 || sample->period_ns > RECORD_MAX_PERIOD_NS ||
	    sample->weight > RECORD_MAX_AMOUNT / sample->period_ns ||
	    sample->vcsw > RECORD_MAX_AMOUNT || sample->ivcsw > RECORD_MAX_AMOUNT)
		return false;
	return tail_holds(sample->head.bytes, sizeof(*sample), sample->pcs, sample->n_pcs);
}

static bool event_holds(const struct record_event *event)
{
	if (event->kind < HOOK_ALLOC || event->kind > HOOK_LOCK)
		return false;
	if (event->tid == 0 || event->tid > INT32_MAX || event->amount > RECORD_MAX_AMOUNT ||
	    event->object >= USER_ADDRESS_END)
		return false;
	if (event->kind == HOOK_LOCK && !lock_event_holds(event))
		return false;
	return tail_holds(event->head.bytes, sizeof(*event), event->pcs, event->n_pcs);
}

static bool thread_holds(struct record_thread *thread)
{
	thread->comm[sizeof(thread->comm) - 1] = '\0';
	return thread->head.bytes == sizeof(*thread) && thread->tid != 0 &&
	       thread->tid <= INT32_MAX;
}

static bool module_holds(struct record_module *module)
{
	module->path[sizeof(module->path) - 1] = '\0';
	return module->head.bytes == sizeof(*module) && module->start < module->end &&
	       module->end <= USER_ADDRESS_END;
}

/* What the type promises, checked on our copy. */
static bool record_holds(union record_copy *record)
{
	switch (record->head.type) {
	case RECORD_SAMPLE:
		return record->head.bytes >= sizeof(record->sample) &&
		       sample_holds(&record->sample);
	case RECORD_THREAD:
		return thread_holds(&record->thread);
	case RECORD_MODULE:
		return module_holds(&record->module);
	case RECORD_UNMAP:
		return record->head.bytes == sizeof(record->unmap);
	case RECORD_EVENT:
		return record->head.bytes >= sizeof(record->event) && event_holds(&record->event);
	default:
		return false;
	}
}

static bool same_head(const struct record *a, const struct record *b)
{
	return a->bytes == b->bytes && a->type == b->type && a->flags == b->flags;
}

/* One record, padding included. */
static enum decode_result decode_one(const unsigned char *data, uint64_t data_bytes, uint64_t head,
				     uint64_t *position, union record_copy *ret_record)
{
	uint64_t offset = *position % data_bytes;
	uint64_t left = head - *position;
	uint64_t whole = data_bytes - offset;
	struct record copy;

	if (left < sizeof(copy) || whole < sizeof(copy))
		return DECODE_CORRUPT;
	memcpy(&copy, data + offset, sizeof(copy));
	if (copy.bytes < sizeof(copy) || copy.bytes % 8 != 0 || copy.bytes > left ||
	    copy.bytes > whole)
		return DECODE_CORRUPT;
	*position += copy.bytes;
	if (copy.type == RECORD_PAD) {
		ret_record->head = copy;
		return DECODE_RECORD;
	}
	if (copy.bytes > sizeof(*ret_record))
		return DECODE_CORRUPT;
	memcpy(ret_record->bytes, data + offset, copy.bytes);
	if (!same_head(&ret_record->head, &copy) || !record_holds(ret_record))
		return DECODE_CORRUPT;
	return DECODE_RECORD;
}

enum decode_result decode_next(const unsigned char *data, uint64_t data_bytes, uint64_t head,
			       uint64_t *position, union record_copy *ret_record)
{
	if (head == *position)
		return DECODE_EMPTY;
	if (head - *position > data_bytes || *position % 8 != 0 || head % 8 != 0) {
		*position = head;
		return DECODE_CORRUPT;
	}
	while (*position != head) {
		uint64_t before = *position;
		enum decode_result result =
			decode_one(data, data_bytes, head, position, ret_record);

		/* Only a length that holds says where the next record starts. */
		if (*position == before)
			*position = head;
		if (result == DECODE_CORRUPT || ret_record->head.type != RECORD_PAD)
			return result;
	}
	return DECODE_EMPTY;
}

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

bool ring_view_has_changes(const struct ring_view *view)
{
	uint32_t n_slots = ring_view_n_slots(view);

	for (uint32_t i = 0; i < n_slots; i += WORD_BITS)
		/* Relaxed: the later acquire pairs with slot_leave(). */
		if (atomic_load_explicit(&view->header->changed[i / WORD_BITS],
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
