/*
 * ring_view.h - the collector's side of one process's rings (wire/ring.h), and checked copies of
 * their records
 *
 * Context: collector thread, unless a function says otherwise.
 */
#ifndef RING_RING_VIEW_H
#define RING_RING_VIEW_H

#include "base/err.h"
#include "sampler/wire/ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A record, copied out of the ring and checked. */
union record_copy {
	struct record head;
	struct record_sample sample;
	struct record_thread thread;
	struct record_module module;
	struct record_unmap unmap;
	struct record_event event;
	unsigned char bytes[RECORD_MAX_BYTES];
};

/**
 * record_context_of - the context behind the pcs of a checked sample or event
 *
 * Return:  the context, in the record; NULL: it has none.
 */
static inline const struct record_context *record_context_of(const struct record *head,
							     const uint64_t *pcs_end)
{
	const unsigned char *end = (const unsigned char *)head + head->bytes;

	return (const unsigned char *)pcs_end < end ? (const void *)pcs_end : NULL;
}

enum decode_result {
	DECODE_RECORD,  /* *RET_RECORD is a whole record that holds what its type says */
	DECODE_EMPTY,   /* nothing is left up to HEAD */
	DECODE_CORRUPT, /* a record lies; the position is past it, or at HEAD when its length lies
			 */
};

/**
 * decode_next - copy the record at a position and check it
 * @data:     the slot's ring, DATA_BYTES long (a multiple of 8)
 * @head:     up to where the writer has committed
 * @position: where to read; moved past what was read
 *
 * Padding is skipped.  The copy is checked, never the original: the target can write it at any
 * time.  Strings in the copy are NUL-terminated.  Times are not checked here.
 */
enum decode_result decode_next(const unsigned char *data, uint64_t data_bytes, uint64_t head,
			       uint64_t *position, union record_copy *ret_record);

/**
 * ring_quota_bytes - what the rings of so many slots take
 *
 * Context: any thread.
 */
uint64_t ring_quota_bytes(uint32_t n_slots);

/**
 * ring_quota_slots - how many slots another process may have
 * @limit_bytes: for all processes together; 0: any
 * @used_bytes:  by the others
 *
 * One chunk is never refused.  A thread that finds no slot is counted as lost_noslot.
 *
 * Return:  RING_CHUNK_SLOTS .. RING_MAX_SLOTS.
 * Context: any thread.
 */
uint32_t ring_quota_slots(uint64_t limit_bytes, uint64_t used_bytes);

enum {
	WORD_BITS = 64, /* slots in one word of the changed bits */
};

/* The memfd, and what is mapped of it: the header at once, chunks when they are needed. */
struct ring_view {
	int fd;
	struct ring_header *header;
	uint32_t max_slots; /* our own copy: the header's can be overwritten */
	unsigned char **chunks;
	uint32_t n_chunks;
};

/**
 * ring_view_init - make, size and seal the memfd, and fill the header
 *
 * Under a small RLIMIT_FSIZE the file has fewer chunks, and max_slots says so.
 *
 * Return:  0; -errno (-EFBIG when not even one chunk is allowed).
 * Owns:    the caller, to ring_view_release().
 */
int ring_view_init(struct ring_view *ret_view, uint64_t period_ns, uint32_t hz,
		   enum ring_discovery discovery);

/** ring_view_release - unmap and close; the target's own mapping stays as it is */
void ring_view_release(struct ring_view *view);

/** ring_view_n_slots - how many slots the target claims to use, cut to what there can be */
uint32_t ring_view_n_slots(const struct ring_view *view);

/** ring_view_has_changes - whether any slot tells of something to drain */
bool ring_view_has_changes(const struct ring_view *view);

/**
 * ring_view_slot - one slot, its chunk mapped when it was not yet
 *
 * Return:  the slot; NULL when memory ran out.
 * Owns:    the view.
 */
struct ring_slot *ring_view_slot(struct ring_view *view, uint32_t slot);

#endif