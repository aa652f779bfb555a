/* json.c - strings and members of JSON */
#include "base/json.h"

#include "base/utf8.h"

#include <string.h>

static bool is_plain(uint32_t code)
{
	if (code == ' ')
		return true;
	return utf8_is_shown(code) && !utf8_breaks(code) &&
	       !(code < 128 && strchr("\"\\<>", (int)code));
}

static void add_unit(struct buf *buf, uint32_t unit)
{
	buf_add(buf, "\\u");
	for (int shift = 12; shift >= 0; shift -= 4)
		buf_add_char(buf, "0123456789abcdef"[unit >> shift & 15]);
}

/* What UTF-16 needs two units for is two escapes (RFC 8259 section 7). */
static void add_escape(struct buf *buf, uint32_t code)
{
	if (code < 0x10000) {
		add_unit(buf, code);
		return;
	}
	add_unit(buf, 0xd800 + ((code - 0x10000) >> 10));
	add_unit(buf, 0xdc00 + (code & 0x3ff));
}

void json_add_string(struct buf *buf, const char *text)
{
	buf_add_char(buf, '"');
	while (*text) {
		uint32_t code = UTF8_REPLACEMENT_CODE;
		size_t len = utf8_next(text, strnlen(text, UTF8_MAX_BYTES), &code);

		if (len && is_plain(code))
			(void)buf_append(buf, text, len);
		else
			add_escape(buf, code);
		text += len ? len : 1;
	}
	buf_add_char(buf, '"');
}

static void begin_member(struct buf *buf, const char *name)
{
	if (buf->len && buf->data[buf->len - 1] != '{')
		buf_add_char(buf, ',');
	buf_printf(buf, "\"%s\":", name);
}

void json_add_text(struct buf *buf, const char *name, const char *text)
{
	begin_member(buf, name);
	json_add_string(buf, text);
}

void json_add_number(struct buf *buf, const char *name, uint64_t value)
{
	begin_member(buf, name);
	buf_add_dec(buf, value, 0, ' ');
}

void json_add_bool(struct buf *buf, const char *name, bool value)
{
	begin_member(buf, name);
	buf_add(buf, value ? "true" : "false");
}
