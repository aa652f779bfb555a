/* json.c - members of a JSON object; whatever a name holds, the result is JSON */
#include "tools/json.h"

static void begin_member(struct buf *buf, const char *name)
{
	if (buf->len && buf->data[buf->len - 1] != '{')
		buf_add_char(buf, ',');
	buf_printf(buf, "\"%s\":", name);
}

void json_string(struct buf *buf, const char *name, const char *text)
{
	begin_member(buf, name);
	buf_add_char(buf, '"');
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			buf_printf(buf, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			buf_printf(buf, "\\u%04x", c);
		else
			buf_add_char(buf, (char)c);
	}
	buf_add_char(buf, '"');
}

void json_number(struct buf *buf, const char *name, uint64_t value)
{
	begin_member(buf, name);
	buf_printf(buf, "%llu", (unsigned long long)value);
}
