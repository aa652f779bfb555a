/* base64.c - bytes inside a text */
#include "flamescope/serve/base64.h"

void base64_add(struct buf *buf, const unsigned char *bytes, size_t len)
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
