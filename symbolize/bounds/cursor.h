/*
 * cursor.h - bounded reading of little-endian bytes
 *
 * A read past the end fails, returns 0, and leaves the cursor failed and at its end, so that
 * every later read fails too: a caller may check once, at the end of what belongs together.
 *
 * Context: any thread.
 */
#ifndef BOUNDS_CURSOR_H
#define BOUNDS_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *at;
	const uint8_t *end; /* the first byte that may not be read */
	bool failed;
};

/**
 * cursor_over - the bytes [OFFSET, END) of LEN bytes at DATA
 *
 * Return:  a cursor; a failed one, when they are not all there.
 */
static inline struct cursor cursor_over(const void *data, size_t len, uint64_t offset, uint64_t end)
{
	struct cursor cursor = {.failed = true};

	if (!data || end > len || offset > end)
		return cursor;
	cursor.at = (const uint8_t *)data + offset;
	cursor.end = (const uint8_t *)data + end;
	cursor.failed = false;
	return cursor;
}

/** cursor_left - bytes that may still be read */
static inline size_t cursor_left(const struct cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

/** cursor_fail - from here on nothing can be read */
static inline void cursor_fail(struct cursor *cursor)
{
	cursor->at = cursor->end;
	cursor->failed = true;
}

/**
 * cursor_skip - pass over LEN bytes
 *
 * Return:  where they were; NULL: they are not there.
 */
static inline const uint8_t *cursor_skip(struct cursor *cursor, uint64_t len)
{
	const uint8_t *at = cursor->at;

	if (__builtin_expect(len > cursor_left(cursor) || cursor->failed, 0)) {
		cursor_fail(cursor);
		return NULL;
	}
	cursor->at += len;
	return at;
}

/** cursor_u8 - one byte */
static inline uint8_t cursor_u8(struct cursor *cursor)
{
	const uint8_t *at = cursor_skip(cursor, 1);

	return at ? *at : 0;
}

/** cursor_u16 - two bytes */
static inline uint16_t cursor_u16(struct cursor *cursor)
{
	const uint8_t *at = cursor_skip(cursor, 2);
	uint16_t value = 0;

	if (at)
		memcpy(&value, at, sizeof(value));
	return value;
}

/** cursor_u32 - four bytes */
static inline uint32_t cursor_u32(struct cursor *cursor)
{
	const uint8_t *at = cursor_skip(cursor, 4);
	uint32_t value = 0;

	if (at)
		memcpy(&value, at, sizeof(value));
	return value;
}

/** cursor_u64 - eight bytes */
static inline uint64_t cursor_u64(struct cursor *cursor)
{
	const uint8_t *at = cursor_skip(cursor, 8);
	uint64_t value = 0;

	if (at)
		memcpy(&value, at, sizeof(value));
	return value;
}

/** cursor_unsigned - SIZE bytes, 1 to 8: an address or an offset */
static inline uint64_t cursor_unsigned(struct cursor *cursor, size_t size)
{
	uint64_t value = 0;
	const uint8_t *at;

	if (size == 8)
		return cursor_u64(cursor);
	if (size == 4)
		return cursor_u32(cursor);
	if (size == 0 || size > 8) {
		cursor_fail(cursor);
		return 0;
	}
	at = cursor_skip(cursor, size);
	for (size_t i = 0; at && i < size; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

/** cursor_uleb_long - cursor_uleb() when it has more than one byte; call that */
uint64_t cursor_uleb_long(struct cursor *cursor);

/** cursor_uleb - an unsigned LEB128 (7.6); bits beyond 64 are lost, more than 16 bytes fail */
static inline uint64_t cursor_uleb(struct cursor *cursor)
{
	if (__builtin_expect(cursor->at < cursor->end && *cursor->at < 0x80, 1))
		return *cursor->at++;
	return cursor_uleb_long(cursor);
}

/** cursor_signed_leb - a signed LEB128 (7.6) */
int64_t cursor_signed_leb(struct cursor *cursor);

/** cursor_uleb_skip - pass over a LEB128 of either sign */
static inline void cursor_uleb_skip(struct cursor *cursor)
{
	while (cursor->at < cursor->end) {
		if (*cursor->at++ < 0x80)
			return;
	}
	cursor_fail(cursor);
}

/**
 * cursor_string - a string and its NUL
 *
 * Return:  the string; NULL: it does not end before the cursor does.
 * Owns:    the bytes' owner.
 */
const char *cursor_string(struct cursor *cursor);

/**
 * cursor_initial_length - the length that begins a unit, a line program or a set (7.4)
 * @ret_offset_size: 4, or 8 when it is of 64-bit DWARF
 *
 * Return:  the bytes that follow, which are all there; 0 and a failed cursor.
 */
uint64_t cursor_initial_length(struct cursor *cursor, uint8_t *ret_offset_size);

#endif
