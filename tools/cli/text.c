/* text.c - numbers as people read them */
#include "tools/cli/terminal.h"

#include "base/utf8.h"
#include "base/words.h"

#include <stdio.h>
#include <string.h>

#define NS_PER_S 1000000000.0

void text_of(struct buf *buf, uint64_t value, const char *noun)
{
	size_t len = strlen(noun);

	words_count(buf, value);
	buf_printf(buf, " %s", noun);
	if (value != 1)
		buf_add(buf, len && noun[len - 1] == 's' ? "es" : "s");
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

void text_sampled(struct buf *buf, uint64_t ns, uint64_t cpu_ns)
{
	words_amount(buf, ns, "ns");
	if (cpu_ns == ns) {
		buf_add(buf, " of CPU");
		return;
	}
	buf_add(buf, " of wall time, ");
	if (cpu_ns)
		words_amount(buf, cpu_ns, "ns");
	else
		buf_add(buf, "none");
	buf_add(buf, " of it CPU");
}

void text_share(struct buf *buf, double part, double whole)
{
	double pct = whole > 0 ? 100 * part / whole : 0;

	if (pct > 0 && pct < 1)
		buf_printf(buf, "%.2f %%", pct);
	else
		buf_printf(buf, "%.1f %%", pct);
}

/* In place, and without memory to be had: what is wrong with memory is said this way, too. */
void text_rate(struct buf *buf, uint32_t effective_hz, uint32_t hz)
{
	if (effective_hz >= hz)
		buf_printf(buf, "%u Hz", (unsigned)hz);
	else
		buf_printf(buf, "%u Hz effective of %u asked", (unsigned)effective_hz,
			   (unsigned)hz);
}

void text_defuse(char *text)
{
	while (*text) {
		uint32_t code = 0;
		size_t len = utf8_next(text, strnlen(text, UTF8_MAX_BYTES), &code);

		if (len == 0 || !utf8_is_shown(code))
			memset(text, '?', len ? len : 1);
		text += len ? len : 1;
	}
}
