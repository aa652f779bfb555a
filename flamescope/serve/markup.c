/* markup.c - escapes for HTML, JSON inside HTML, and base64 */
#include "flamescope/serve/markup.h"

#include <string.h>

void markup_text(struct buf *buf, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			buf_add(buf, "&amp;");
			break;
		case '<':
			buf_add(buf, "&lt;");
			break;
		case '>':
			buf_add(buf, "&gt;");
			break;
		case '"':
			buf_add(buf, "&quot;");
			break;
		case '\'':
			buf_add(buf, "&#39;");
			break;
		default:
			buf_add_char(buf, *text);
		}
	}
}

void markup_json_string(struct buf *buf, const char *text)
{
	buf_add_char(buf, '"');
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte < ' ' || strchr("\"\\<>&\x7f", byte))
			buf_printf(buf, "\\u%04x", byte);
		else
			buf_add_char(buf, *text);
	}
	buf_add_char(buf, '"');
}

void markup_base64(struct buf *buf, const unsigned char *bytes, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char text[4 * 256];
	size_t n = 0;

	for (size_t i = 0; i < len; i += 3) {
		const size_t left = len - i;
		const uint32_t word = (uint32_t)bytes[i] << 16 |
				      (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
				      (left > 2 ? bytes[i + 2] : 0U);

		text[n++] = digits[word >> 18];
		text[n++] = digits[word >> 12 & 63];
		text[n++] = (char)(left > 1 ? digits[word >> 6 & 63] : '=');
		text[n++] = (char)(left > 2 ? digits[word & 63] : '=');
		if (n == sizeof(text)) {
			(void)buf_append(buf, text, n);
			n = 0;
		}
	}
	(void)buf_append(buf, text, n);
}
