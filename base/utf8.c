/* utf8.c - one code point at a time */
#include "base/utf8.h"

/* How many bytes a lead byte announces, and the bits of the code point in it; 0: no lead byte. */
static size_t lead(unsigned char byte, uint32_t *ret_bits)
{
	if (byte < 0x80) {
		*ret_bits = byte;
		return 1;
	}
	if (byte >= 0xc2 && byte < 0xe0) {
		*ret_bits = byte & 0x1fU;
		return 2;
	}
	if (byte >= 0xe0 && byte < 0xf0) {
		*ret_bits = byte & 0x0fU;
		return 3;
	}
	if (byte >= 0xf0 && byte < 0xf5) {
		*ret_bits = byte & 0x07U;
		return 4;
	}
	return 0;
}

size_t utf8_next(const char *text, size_t left, uint32_t *ret_code)
{
	static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t code = 0;
	size_t len;

	if (left == 0)
		return 0;
	len = lead((unsigned char)text[0], &code);
	if (len == 0 || len > left)
		return 0;
	for (size_t i = 1; i < len; i++) {
		unsigned char byte = (unsigned char)text[i];

		if ((byte & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (byte & 0x3fU);
	}
	if (code < smallest[len] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	*ret_code = code;
	return len;
}

bool utf8_breaks(uint32_t code)
{
	if (code <= 0x20 || (code >= 0x7f && code <= 0xa0))
		return true;
	if (code < 0x1680)
		return false;
	return code == 0x1680 || code == 0x180e || (code >= 0x2000 && code <= 0x200a) ||
	       code == 0x2028 || code == 0x2029 || code == 0x202f || code == 0x205f ||
	       code == 0x3000 || code == 0xfeff;
}

/* Line breaks, marks of direction and the like: they would make a name look like another one. */
static bool is_deceiving(uint32_t code)
{
	return code == 0x61c || code == 0x180e || (code >= 0x200b && code <= 0x200f) ||
	       (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
	       code == 0xfeff || (code >= 0xfff9 && code <= 0xfffb) ||
	       (code >= 0xe0000 && code <= 0xe007f);
}

bool utf8_is_shown(uint32_t code)
{
	if (code < 0x20 || (code >= 0x7f && code <= 0x9f))
		return false;
	return (code & 0xfffe) != 0xfffe && !is_deceiving(code);
}
