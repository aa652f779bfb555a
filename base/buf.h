/*
 * buf.h - growing bytes, with a limit that buf_init() sets
 *
 * Context: any thread, unless a function says otherwise.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Bytes [0, len) of data are set; data is not NUL-terminated unless buf_text()
 * made it so.  After the first failure (limit or memory) `failed` holds and
 * every further append does nothing: check once, at the end.
 */
struct buf {
	char *data;
	size_t len;
	size_t size;
	size_t limit;
	bool failed;
};

/**
 * buf_init - an empty buffer that never holds more than LIMIT bytes
 *
 * Context: any thread.  One owner at a time, as for all of these.
 */
void buf_init(struct buf *buf, size_t limit);

/** buf_release - give back the memory; the buffer is empty and usable again */
void buf_release(struct buf *buf);

/** buf_clear - forget the content and the failure, keep the memory */
void buf_clear(struct buf *buf);

/**
 * buf_append - add LEN bytes
 *
 * Return:  0; -EFBIG over the limit; -ENOMEM.  Nothing is added on failure.
 */
int buf_append(struct buf *buf, const void *bytes, size_t len);

/** buf_add - add a string */
void buf_add(struct buf *buf, const char *text);

/** buf_add_char - add one byte */
void buf_add_char(struct buf *buf, char byte);

/** buf_add_hex - add lower-case hexadecimal without 0x, right-aligned to WIDTH with blanks */
void buf_add_hex(struct buf *buf, uint64_t value, unsigned width);

/** buf_add_dec - add a decimal, right-aligned to WIDTH with FILL */
void buf_add_dec(struct buf *buf, uint64_t value, unsigned width, char fill);

/** buf_printf - add formatted text, in the C locale's digits only for integers and strings */
void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/**
 * buf_text - the content as a string
 *
 * Return:  a NUL-terminated view; "" when empty or failed.
 * Owns:    the buffer; good until the next call on it.
 */
const char *buf_text(struct buf *buf);

#endif
