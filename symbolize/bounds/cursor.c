/* cursor.c - the reads that are too long to stand in the header */
#include "symbolize/bounds/cursor.h"

/* More bytes than any producer pads a LEB128 to. */
enum { LEB_MAX_BYTES = 16 };

uint64_t cursor_uleb_long(struct cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < LEB_MAX_BYTES && cursor->at < cursor->end; i++) {
		uint8_t byte = *cursor->at++;

		if (i < 10)
			value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte < 0x80)
			return value;
	}
	cursor_fail(cursor);
	return 0;
}

int64_t cursor_signed_leb(struct cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < LEB_MAX_BYTES && cursor->at < cursor->end; i++) {
		uint8_t byte = *cursor->at++;

		if (i < 10)
			value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte >= 0x80)
			continue;
		if (i < 9 && (byte & 0x40))
			value |= UINT64_MAX << (7 * (i + 1));
		return (int64_t)value;
	}
	cursor_fail(cursor);
	return 0;
}

const char *cursor_string(struct cursor *cursor)
{
	size_t left = cursor_left(cursor);
	const uint8_t *start = cursor->at;
	const uint8_t *nul = left ? memchr(start, 0, left) : NULL;

	if (!nul) {
		cursor_fail(cursor);
		return NULL;
	}
	cursor->at = nul + 1;
	return (const char *)start;
}

uint64_t cursor_initial_length(struct cursor *cursor, uint8_t *ret_offset_size)
{
	uint64_t len = cursor_u32(cursor);

	*ret_offset_size = 4;
	if (len == UINT32_MAX) {
		*ret_offset_size = 8;
		len = cursor_u64(cursor);
	} else if (len >= 0xfffffff0) {
		cursor_fail(cursor); /* reserved */
	}
	if (len > cursor_left(cursor))
		cursor_fail(cursor);
	return cursor->failed ? 0 : len;
}
