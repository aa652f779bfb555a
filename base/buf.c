/* buf.c - a growing run of bytes with a limit at birth */
#include "base/buf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_init(struct buf *buf, size_t limit)
{
	*buf = (struct buf){.limit = limit};
}

void buf_release(struct buf *buf)
{
	free(buf->data);
	buf_init(buf, buf->limit);
}

void buf_clear(struct buf *buf)
{
	buf->len = 0;
	buf->failed = false;
}

/* Room for LEN more bytes and a NUL. */
static int reserve(struct buf *buf, size_t len)
{
	size_t size = buf->size ? buf->size : 256;
	char *data;

	if (buf->failed)
		return -EFBIG;
	if (len > buf->limit || buf->len > buf->limit - len) {
		buf->failed = true;
		return -EFBIG;
	}
	while (size < buf->len + len + 1)
		size *= 2;
	if (size == buf->size)
		return 0;
	data = realloc(buf->data, size);
	if (!data) {
		buf->failed = true;
		return -ENOMEM;
	}
	buf->data = data;
	buf->size = size;
	return 0;
}

int buf_append(struct buf *buf, const void *bytes, size_t len)
{
	int r = reserve(buf, len);

	if (r < 0)
		return r;
	if (len)
		memcpy(buf->data + buf->len, bytes, len);
	buf->len += len;
	return 0;
}

void buf_add(struct buf *buf, const char *text)
{
	(void)buf_append(buf, text, strlen(text));
}

void buf_add_char(struct buf *buf, char byte)
{
	(void)buf_append(buf, &byte, 1);
}

static void add_number(struct buf *buf, uint64_t value, unsigned base, unsigned width, char fill)
{
	char digits[80];
	char *at = digits + sizeof(digits);
	unsigned n = 0;

	do {
		*--at = "0123456789abcdef"[value % base];
		value /= base;
		n++;
	} while (value);
	for (; n < width && n < sizeof(digits); n++)
		*--at = fill;
	(void)buf_append(buf, at, n);
}

void buf_add_hex(struct buf *buf, uint64_t value, unsigned width)
{
	add_number(buf, value, 16, width, ' ');
}

void buf_add_dec(struct buf *buf, uint64_t value, unsigned width, char fill)
{
	add_number(buf, value, 10, width, fill);
}

void buf_printf(struct buf *buf, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (n < 0 || reserve(buf, (size_t)n) < 0)
		return;
	va_start(args, format);
	(void)vsnprintf(buf->data + buf->len, (size_t)n + 1, format, args);
	va_end(args);
	buf->len += (size_t)n;
}

const char *buf_text(struct buf *buf)
{
	if (buf->failed || !buf->data)
		return "";
	buf->data[buf->len] = '\0';
	return buf->data;
}
