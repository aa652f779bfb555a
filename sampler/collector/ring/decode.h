/* decode.h - records out of a slot that its writer may be lying in */
#ifndef RING_DECODE_H
#define RING_DECODE_H

#include "sampler/wire/ring.h"

#include <stdbool.h>
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
 *
 * Context: collector thread.
 */
enum decode_result decode_next(const unsigned char *data, uint64_t data_bytes, uint64_t head,
			       uint64_t *position, union record_copy *ret_record);

#endif
