/* slot.c - finds and claims the ring of a thread, and writes records to it */
#include "sampler/handler/slot.h"

#include "sampler/handler/sys/clock.h"
#include "sampler/handler/timer.h"

#include <linux/mman.h>

#include "sampler/handler/sys/sigsafe.h"

enum { CHUNKS_AT_ONCE = 16, POPULATE_AHEAD = 2 /* pages */ };

int slot_at(struct process *p, uint32_t index, struct slot *ret_slot)
{
	uint32_t chunk = index / RING_CHUNK_SLOTS;
	unsigned char *base;

	if (chunk >= atomic_load_explicit(&p->n_chunks, memory_order_acquire))
		return -1;
	base = (unsigned char *)p->chunks[chunk];
	ret_slot->ring = (void *)(base + index % RING_CHUNK_SLOTS * ring_slot_bytes(chunk));
	ret_slot->own = (void *)ret_slot->ring->own;
	ret_slot->changed = &p->header->changed[index / 64];
	ret_slot->index = index;
	ret_slot->data_bytes = (uint32_t)ring_data_bytes(chunk);
	return 0;
}

/* The slot that a thread with this tid had last. */
static _Atomic uint16_t *hint_of(struct process *p, uint32_t tid)
{
	return &p->hints[tid % PROCESS_HINTS];
}

static bool is_slot_of(const struct process *p, uint32_t index, uint32_t tid)
{
	return atomic_load_explicit(&p->header->tids[index], memory_order_relaxed) == tid;
}

int slot_find(struct process *p, uint32_t tid, struct slot *ret_slot)
{
	uint32_t n = atomic_load_explicit(&p->n_slots, memory_order_acquire);
	uint32_t hint = atomic_load_explicit(hint_of(p, tid), memory_order_relaxed);

	if (hint < n && is_slot_of(p, hint, tid))
		return slot_at(p, hint, ret_slot);
	for (uint32_t i = 0; i < n; i++) {
		if (!is_slot_of(p, i, tid))
			continue;
		atomic_store_explicit(hint_of(p, tid), (uint16_t)i, memory_order_relaxed);
		return slot_at(p, i, ret_slot);
	}
	return -1;
}

/* Doubles the chunks, so that the first samples of many threads do not wait for each other. */
static uint32_t chunks_to_add(const struct process *p, uint32_t n)
{
	uint32_t more = n < CHUNKS_AT_ONCE ? n : CHUNKS_AT_ONCE;

	return more < p->max_chunks - n ? more : p->max_chunks - n;
}

/* mremap() duplicates the last page and extends it over the next part of the file: no descriptor
 * stays open in the target. */
static bool map_chunks(struct process *p, uint32_t n, uint32_t more)
{
	unsigned char *last = (unsigned char *)p->chunks[n - 1] + ring_chunk_bytes(n - 1);
	uint64_t len = ring_chunk_offset(n + more) - ring_chunk_offset(n);
	long at = sys4(__NR_mremap, last - RING_PAGE, 0, RING_PAGE + len, MREMAP_MAYMOVE);

	if (sys_failed(at))
		return false;
	(void)sys2(__NR_munmap, at, RING_PAGE);
	(void)sys3(__NR_madvise, at + RING_PAGE, len, 10 /* MADV_DONTFORK */);
	for (uint32_t i = 0; i < more; i++)
		p->chunks[n + i] =
			(void *)(at + RING_PAGE + ring_chunk_offset(n + i) - ring_chunk_offset(n));
	atomic_store_explicit(&p->header->n_chunks, n + more, memory_order_relaxed);
	atomic_store_explicit(&p->n_chunks, n + more, memory_order_release);
	return true;
}

static void map_next_chunks(struct process *p)
{
	uint32_t n = atomic_load_explicit(&p->n_chunks, memory_order_relaxed);
	uint32_t more = n < p->max_chunks ? chunks_to_add(p, n) : 0;

	/* The program may have address space for one chunk only. */
	if (more && !map_chunks(p, n, more) && more > 1)
		(void)map_chunks(p, n, 1);
}

static void grow(struct process *p)
{
	if (atomic_exchange_explicit(&p->growing, 1, memory_order_acquire))
		return;
	map_next_chunks(p);
	atomic_store_explicit(&p->growing, 0, memory_order_release);
}

static void raise_n_slots(struct process *p, uint32_t n)
{
	uint32_t old = atomic_load_explicit(&p->n_slots, memory_order_relaxed);

	while (old < n && !atomic_compare_exchange_weak_explicit(
				  &p->n_slots, &old, n, memory_order_release, memory_order_relaxed))
		;
	old = atomic_load_explicit(&p->header->n_slots, memory_order_relaxed);
	while (old < n &&
	       !atomic_compare_exchange_weak_explicit(&p->header->n_slots, &old, n,
						      memory_order_release, memory_order_relaxed))
		;
}

static uint32_t capacity(struct process *p)
{
	uint32_t n = atomic_load_explicit(&p->n_chunks, memory_order_acquire) * RING_CHUNK_SLOTS;

	return n < p->max_slots ? n : p->max_slots;
}

/* Enters the slot before its tid is visible, so that its thread cannot arm it as well. */
static bool take(struct process *p, uint32_t i, uint32_t tid, struct slot *slot)
{
	_Atomic uint32_t *word = &p->header->tids[i];
	uint32_t old = atomic_load_explicit(word, memory_order_relaxed);

	if ((old != 0 && old != RING_TID_DEAD) || slot_at(p, i, slot) < 0 || !slot_enter(slot))
		return false;
	if (atomic_compare_exchange_strong_explicit(word, &old, tid, memory_order_acq_rel,
						    memory_order_relaxed))
		return true;
	slot_leave(slot);
	return false;
}

/* Resets the agent's part; the ring's positions and counters continue, and the slot stays entered.
 */
static void reset_own(struct process *p, const struct slot *slot, uint32_t tid)
{
	struct slot_own *own = slot->own;
	uint16_t populated = own->populated;

	if (own->residual)
		atomic_fetch_add_explicit(&p->header->lost_nested, own->residual,
					  memory_order_relaxed);
	timer_delete_ended(p, slot);
	atomic_store_explicit(&slot->ring->armed, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->ring->thread_pointer, 0, memory_order_relaxed);
	*own = (struct slot_own){
		.busy = 1,
		.populated = populated,
		/* A program that runs again may have the same tids. */
		.random = ((uint32_t)clock_now_ns() ^ tid) * 2654435761U | 1,
		.claimed_head = atomic_load_explicit(&slot->ring->head, memory_order_relaxed),
	};
}

int slot_claim(struct process *p, uint32_t tid, struct slot *ret_slot)
{
	uint32_t n = capacity(p);

	for (uint32_t i = 0; i < n; i++) {
		if (!take(p, i, tid, ret_slot))
			continue;
		raise_n_slots(p, i + 1);
		reset_own(p, ret_slot, tid);
		if (i >= n / 2)
			grow(p);
		return 0;
	}
	grow(p);
	return -1;
}

bool slot_enter(struct slot *slot)
{
	/* seq_cst: process_wait_handlers() reads it after it has changed the state. */
	return !atomic_exchange_explicit(&slot->own->busy, 1, memory_order_seq_cst);
}

void slot_leave(struct slot *slot)
{
	atomic_store_explicit(&slot->own->busy, 0, memory_order_release);
	/* Always set: a load would not be ordered after what was written. Pairs with the
	 * collector's acquire. */
	atomic_fetch_or_explicit(slot->changed, UINT64_C(1) << slot->index % 64,
				 memory_order_release);
}

/* The page that is written to next. */
static uint32_t page_at(const struct slot *slot)
{
	uint64_t head = atomic_load_explicit(&slot->ring->head, memory_order_relaxed);

	return (uint32_t)((sizeof(struct ring_slot) + head % slot->data_bytes) / RING_PAGE);
}

void slot_populate(struct slot *slot)
{
	uint32_t all = (slot->data_bytes + (uint32_t)sizeof(struct ring_slot)) / RING_PAGE;
	uint32_t have = slot->own->populated;
	uint32_t want = have < all ? page_at(slot) + POPULATE_AHEAD : 0;
	unsigned char *ring = (unsigned char *)slot->ring;

	if (want > all)
		want = all;
	if (have >= want)
		return;
	slot->own->populated = (uint16_t)want;
	if (sys3(__NR_madvise, ring + (uint64_t)have * RING_PAGE, (want - have) * RING_PAGE,
		 SYS_POPULATE_WRITE) == 0)
		return;
	/* Nothing reads from pages without data: this is harmless. */
	for (uint32_t page = have ? have : 1; page < want; page++) {
		volatile unsigned char *byte = ring + (uint64_t)page * RING_PAGE;

		*byte = *byte; // cppcheck-suppress selfAssignment ; volatile: it faults the page in
	}
}

void *ring_reserve(struct slot *slot, uint32_t len)
{
	struct ring_slot *ring = slot->ring;
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	/* Pairs with the reader's release of tail: it has copied what is about to be overwritten.
	 */
	uint64_t used = head - atomic_load_explicit(&ring->tail, memory_order_acquire);
	uint32_t at = (uint32_t)(head % slot->data_bytes);
	uint32_t to_end = slot->data_bytes - at;
	uint32_t pad = to_end < len ? to_end : 0;
	struct record *record;

	if (used > slot->data_bytes || slot->data_bytes - used < (uint64_t)pad + len)
		return NULL;
	record = (void *)(ring->data + at);
	if (!pad)
		return record;
	*record = (struct record){.bytes = pad, .type = RECORD_PAD};
	ring_commit(slot, pad);
	return ring->data;
}

void ring_commit(struct slot *slot, uint32_t len)
{
	uint64_t head = atomic_load_explicit(&slot->ring->head, memory_order_relaxed);

	/* Pairs with the collector's acquire of head. */
	atomic_store_explicit(&slot->ring->head, head + len, memory_order_release);
}

static uint64_t used(const struct slot *slot)
{
	return atomic_load_explicit(&slot->ring->head, memory_order_relaxed) -
	       atomic_load_explicit(&slot->ring->tail, memory_order_relaxed);
}

bool ring_half_full(const struct slot *slot)
{
	return used(slot) > slot->data_bytes / 2;
}

bool ring_nearly_full(const struct slot *slot)
{
	return used(slot) > slot->data_bytes / 4 * 3;
}
