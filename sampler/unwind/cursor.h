/*
 * cursor.h - reads CFI through a reader, with bounds checks, a small window at a time
 *
 * Context: handler, unless a function says otherwise.
 */
#ifndef UNWIND_CURSOR_H
#define UNWIND_CURSOR_H

#include "sampler/unwind/unwind.h"

#pragma GCC visibility push(hidden)

enum {
	CURSOR_PAGE = 4096,
};

/* DW_EH_PE_*: how a pointer is written.  The low half is its format, the high its base. */
enum {
	ENCODING_ABSPTR = 0x00,
	ENCODING_ULEB = 0x01,
	ENCODING_UDATA2 = 0x02,
	ENCODING_UDATA4 = 0x03,
	ENCODING_UDATA8 = 0x04,
	ENCODING_SLEB = 0x09,
	ENCODING_SDATA2 = 0x0a,
	ENCODING_SDATA4 = 0x0b,
	ENCODING_SDATA8 = 0x0c,
	ENCODING_FORMAT = 0x0f,
	ENCODING_PCREL = 0x10,
	ENCODING_DATAREL = 0x30,
	ENCODING_BASE = 0x70,
	ENCODING_INDIRECT = 0x80,
	ENCODING_OMIT = 0xff,
};

/**
 * cursor_init - read [AT, END)
 *
 * Context: handler.  The caller's memory, as for all of these.
 */
void cursor_init(struct cfi_cursor *cursor, struct unwind_reader *reader, uint64_t at,
		 uint64_t end);

/** cursor_move - continue at [AT, END) with the same window */
void cursor_move(struct cfi_cursor *cursor, uint64_t at, uint64_t end);

/** cursor_fixed - an unsigned little-endian number of LEN bytes (1, 2, 4 or 8) */
uint64_t cursor_fixed(struct cfi_cursor *cursor, unsigned len);

/** cursor_byte_far - one byte that is not in the window */
uint8_t cursor_byte_far(struct cfi_cursor *cursor);

/** cursor_uleb_far - an unsigned LEB128 of any length */
uint64_t cursor_uleb_far(struct cfi_cursor *cursor);

/** cursor_byte - one byte */
static inline uint8_t cursor_byte(struct cfi_cursor *cursor)
{
	uint64_t in_window = cursor->at - cursor->window_at;

	if (in_window >= cursor->n_window || cursor->at >= cursor->end || cursor->failed)
		return cursor_byte_far(cursor);
	cursor->at++;
	return cursor->window[in_window];
}

/** cursor_uleb - an unsigned LEB128; one that does not fit 64 bits fails */
static inline uint64_t cursor_uleb(struct cfi_cursor *cursor)
{
	uint64_t in_window = cursor->at - cursor->window_at;

	/* Nearly all are one byte long; this halves the cost of decoding a row. */
	if (in_window >= cursor->n_window || cursor->at >= cursor->end || cursor->failed ||
	    cursor->window[in_window] & 0x80)
		return cursor_uleb_far(cursor);
	cursor->at++;
	return cursor->window[in_window];
}

/** cursor_sleb - a signed LEB128; one of more than ten bytes fails */
int64_t cursor_sleb(struct cfi_cursor *cursor);

/** cursor_skip - skip LEN bytes */
void cursor_skip(struct cfi_cursor *cursor, uint64_t len);

/**
 * cursor_pointer - a pointer as ENCODING says
 * @data: base of ENCODING_DATAREL; 0: that base fails
 *
 * Bases that CFI of this machine does not use, and indirect pointers, fail.
 */
uint64_t cursor_pointer(struct cfi_cursor *cursor, uint8_t encoding, uint64_t data);

#pragma GCC visibility pop

#endif
