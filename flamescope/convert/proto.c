/* proto.c - fields of protocol buffers (protobuf.dev/programming-guides/encoding) */
#include "flamescope/convert/internal.h"

#include "base/utf8.h"

#include <string.h>

enum { VARINT = 0, LENGTH_DELIMITED = 2, MAX_TEXT = 64 * 1024 };

void proto_varint(struct buf *buf, uint64_t value)
{
	unsigned char bytes[10];
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[n++] = (unsigned char)(value | 0x80);
	bytes[n++] = (unsigned char)value;
	(void)buf_append(buf, bytes, n);
}

void proto_number(struct buf *buf, unsigned field, uint64_t value)
{
	if (value == 0)
		return;
	proto_varint(buf, field << 3 | VARINT);
	proto_varint(buf, value);
}

void proto_bytes(struct buf *buf, unsigned field, const void *bytes, size_t len)
{
	proto_varint(buf, field << 3 | LENGTH_DELIMITED);
	proto_varint(buf, len);
	(void)buf_append(buf, bytes, len);
}

void proto_message(struct buf *buf, unsigned field, struct buf *message)
{
	if (message->failed)
		buf->failed = true;
	proto_bytes(buf, field, message->data, message->len);
	buf_clear(message);
}

/* Bytes up to the next one that is no UTF-8. */
static size_t good_run(const char *text, size_t left)
{
	size_t n = 0;
	uint32_t code;
	size_t len;

	while (n < left && (len = utf8_next(text + n, left - n, &code)) > 0)
		n += len;
	return n;
}

void proto_text(struct buf *buf, unsigned field, const char *text)
{
	size_t left = strnlen(text, MAX_TEXT);
	size_t good = good_run(text, left);
	struct buf fixed;

	if (good == left) {
		proto_bytes(buf, field, text, left);
		return;
	}
	buf_init(&fixed, (size_t)MAX_TEXT * 4);
	for (; left; good = good_run(text, left)) {
		(void)buf_append(&fixed, text, good);
		text += good;
		left -= good;
		if (left) {
			buf_add(&fixed, "\xef\xbf\xbd");
			text++;
			left--;
		}
	}
	proto_message(buf, field, &fixed);
	buf_release(&fixed);
}
