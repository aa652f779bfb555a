/* encode.c - bytes of any kind in comment lines: percent-encoding */
#include "base/utf8.h"
#include "output/text/sanitise.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

static void add_percent(struct buf *buf, char byte)
{
	static const char digits[] = "0123456789ABCDEF";

	buf_add_char(buf, '%');
	buf_add_char(buf, digits[(unsigned char)byte >> 4]);
	buf_add_char(buf, digits[(unsigned char)byte & 15]);
}

void sanitise_word(struct buf *buf, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char byte = text[i];

		if (byte > ' ' && byte < 127 && !strchr("%<>\\", byte))
			buf_add_char(buf, byte);
		else
			add_percent(buf, byte);
	}
}

static bool reads_as_encoded(const char *text)
{
	return text[0] == '%' && isxdigit((unsigned char)text[1]) &&
	       isxdigit((unsigned char)text[2]);
}

void sanitise_line(struct buf *buf, const char *text)
{
	size_t left = strlen(text);

	while (left) {
		uint32_t code;
		size_t len = utf8_next(text, left, &code);
		bool plain = len && (code == ' ' || !utf8_breaks(code)) &&
			     !(code < 128 && strchr("<>\\", (int)code)) && !reads_as_encoded(text);

		len = len ? len : 1;
		if (plain)
			(void)buf_append(buf, text, len);
		for (size_t i = 0; i < len && !plain; i++)
			add_percent(buf, text[i]);
		text += len;
		left -= len;
	}
}
