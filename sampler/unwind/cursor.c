/* cursor.c - reads CFI with bounds checks */
#include "sampler/unwind/cursor.h"

void cursor_init(struct cfi_cursor *cursor, struct unwind_reader *reader, uint64_t at, uint64_t end)
{
	cursor->reader = reader;
	cursor->n_window = 0;
	cursor->window_at = 0;
	cursor->failed = false;
	cursor_move(cursor, at, end);
}

void cursor_move(struct cfi_cursor *cursor, uint64_t at, uint64_t end)
{
	cursor->at = at;
	cursor->end = end;
	if (at > end)
		cursor->failed = true;
}

/* At least LEAST bytes, but no page beyond these: it may not exist. */
static bool fill(struct cfi_cursor *cursor, unsigned least)
{
	uint64_t len = cursor->end - cursor->at;
	uint64_t to_page_end = CURSOR_PAGE - (cursor->at & (CURSOR_PAGE - 1));

	if (cursor->failed || cursor->at > cursor->end || len < least)
		return false;
	if (len > CURSOR_WINDOW)
		len = CURSOR_WINDOW;
	if (len > to_page_end)
		len = to_page_end < least ? least : to_page_end;
	cursor->n_window = 0;
	cursor->window_at = cursor->at;
	if (!cursor->reader->read(cursor->reader, cursor->at, cursor->window, len))
		return false;
	cursor->n_window = (uint32_t)len;
	return true;
}

uint8_t cursor_byte_far(struct cfi_cursor *cursor)
{
	if (!fill(cursor, 1)) {
		cursor->failed = true;
		return 0;
	}
	cursor->at++;
	return cursor->window[0];
}

uint64_t cursor_fixed(struct cfi_cursor *cursor, unsigned len)
{
	uint64_t in_window = cursor->at - cursor->window_at;
	uint64_t value = 0;

	if (cursor->failed || cursor->at > cursor->end || cursor->end - cursor->at < len ||
	    in_window > cursor->n_window || cursor->n_window - in_window < len) {
		if (!fill(cursor, len)) {
			cursor->failed = true;
			return 0;
		}
		in_window = 0;
	}
	for (unsigned i = 0; i < len; i++)
		value |= (uint64_t)cursor->window[in_window + i] << (8 * i);
	cursor->at += len;
	return value;
}

uint64_t cursor_uleb_far(struct cfi_cursor *cursor)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = cursor_byte(cursor);
		if (shift > 63 || (shift == 63 && (byte & 0x7e)))
			cursor->failed = true;
		if (cursor->failed)
			return 0;
		value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

int64_t cursor_sleb(struct cfi_cursor *cursor)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = cursor_byte(cursor);
		if (shift > 63)
			cursor->failed = true;
		if (cursor->failed)
			return 0;
		value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && (byte & 0x40))
		value |= ~UINT64_C(0) << shift;
	return (int64_t)value;
}

void cursor_skip(struct cfi_cursor *cursor, uint64_t len)
{
	if (cursor->failed || len > cursor->end - cursor->at) {
		cursor->failed = true;
		return;
	}
	cursor->at += len;
}

static uint64_t sign_extended(uint64_t value, unsigned bits)
{
	uint64_t sign = UINT64_C(1) << (bits - 1);

	return (value ^ sign) - sign;
}

static uint64_t read_format(struct cfi_cursor *cursor, uint8_t format)
{
	switch (format) {
	case ENCODING_ABSPTR:
	case ENCODING_UDATA8:
	case ENCODING_SDATA8:
		return cursor_fixed(cursor, 8);
	case ENCODING_UDATA4:
		return cursor_fixed(cursor, 4);
	case ENCODING_SDATA4:
		return sign_extended(cursor_fixed(cursor, 4), 32);
	case ENCODING_UDATA2:
		return cursor_fixed(cursor, 2);
	case ENCODING_SDATA2:
		return sign_extended(cursor_fixed(cursor, 2), 16);
	case ENCODING_ULEB:
		return cursor_uleb(cursor);
	case ENCODING_SLEB:
		return (uint64_t)cursor_sleb(cursor);
	default:
		cursor->failed = true;
		return 0;
	}
}

uint64_t cursor_pointer(struct cfi_cursor *cursor, uint8_t encoding, uint64_t data)
{
	uint64_t base = 0;

	if ((encoding & ENCODING_BASE) == ENCODING_PCREL)
		base = cursor->at;
	else if ((encoding & ENCODING_BASE) == ENCODING_DATAREL && data)
		base = data;
	else if (encoding & ENCODING_BASE)
		cursor->failed = true;
	if (encoding & ENCODING_INDIRECT)
		cursor->failed = true;
	return base + read_format(cursor, encoding & ENCODING_FORMAT);
}
