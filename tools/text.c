/* text.c - numbers as people read them */
#include "tools/text.h"

#include "flamescope/draw/words.h"
#include "output/utf8.h"

#include <stdio.h>
#include <string.h>

#define NS_PER_S 1000000000.0

void text_count(struct buf *buf, uint64_t value)
{
	char digits[32];
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);

	for (int i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			buf_add_char(buf, ',');
		buf_add_char(buf, digits[i]);
	}
}

void text_of(struct buf *buf, uint64_t value, const char *noun)
{
	size_t len = strlen(noun);

	text_count(buf, value);
	buf_printf(buf, " %s", noun);
	if (value != 1)
		buf_add(buf, len && noun[len - 1] == 's' ? "es" : "s");
}

void text_bytes(struct buf *buf, uint64_t bytes)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
	double value = (double)bytes / 1024;
	size_t i = 0;

	if (bytes < 1024) {
		buf_printf(buf, "%llu B", (unsigned long long)bytes);
		return;
	}
	for (; value >= 1024 && i + 1 < sizeof(units) / sizeof(units[0]); i++)
		value /= 1024;
	buf_printf(buf, "%.1f %s", value, units[i]);
}

void text_seconds(struct buf *buf, uint64_t ns)
{
	double s = (double)ns / NS_PER_S;

	if (s < 10)
		buf_printf(buf, "%.2f s", s);
	else if (s < 120)
		buf_printf(buf, "%.1f s", s);
	else if (s < 7200)
		buf_printf(buf, "%u min %u s", (unsigned)s / 60, (unsigned)s % 60);
	else
		buf_printf(buf, "%u h %u min", (unsigned)s / 3600, (unsigned)s / 60 % 60);
}

void text_share(struct buf *buf, double part, double whole)
{
	double pct = whole > 0 ? 100 * part / whole : 0;

	if (pct > 0 && pct < 1)
		buf_printf(buf, "%.2f %%", pct);
	else
		buf_printf(buf, "%.1f %%", pct);
}

/* Bytes that are no UTF-8 are orders too: terminals of 8 bits obey 80 to 9f (ISO 6429). */
void text_visible(struct buf *buf, const char *text)
{
	words_plain(buf, text);
}

/* In place, and without memory to be had: what is wrong with memory is said this way, too. */
void text_defuse(char *text)
{
	while (*text) {
		uint32_t code = 0;
		size_t len = utf8_next(text, strnlen(text, 4), &code);

		if (len == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0))
			memset(text, '?', len ? len : 1);
		text += len ? len : 1;
	}
}
