/* words.c - names made harmless for XML, CSV, Markdown and terminals, and amounts made readable */
#include "base/words.h"

#include "base/utf8.h"

#include <math.h>
#include <string.h>

/* The next character of a text that is not at its end: its bytes, or what stands for them. */
static const char *next(const char **text, size_t *ret_len)
{
	const char *at = *text;
	uint32_t code = 0;
	size_t len = utf8_next(at, strnlen(at, UTF8_MAX_BYTES), &code);

	*text += len ? len : 1;
	if (len && utf8_is_shown(code)) {
		*ret_len = len;
		return at;
	}
	*ret_len = sizeof(UTF8_REPLACEMENT) - 1;
	return UTF8_REPLACEMENT;
}

static void add_xml(struct buf *buf, const char *at, size_t len)
{
	switch (*at) {
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
		(void)buf_append(buf, at, len);
		break;
	}
}

void words_xml(struct buf *buf, const char *text)
{
	while (*text) {
		size_t len;
		const char *at = next(&text, &len);

		add_xml(buf, at, len);
	}
}

void words_xml_cut(struct buf *buf, const char *text, size_t n)
{
	enum { DOTS = 2 };
	bool cut = words_width(text) > n;

	if (cut && n <= DOTS)
		return;
	for (size_t i = cut ? DOTS : 0; *text && i < n; i++) {
		size_t len;
		const char *at = next(&text, &len);

		add_xml(buf, at, len);
	}
	if (cut)
		buf_add(buf, "..");
}

void words_plain(struct buf *buf, const char *text)
{
	while (*text) {
		size_t len;
		const char *at = next(&text, &len);

		(void)buf_append(buf, at, len);
	}
}

void words_csv(struct buf *buf, const char *text)
{
	buf_add_char(buf, '"');
	if (*text && strchr("=+-@\t", *text))
		buf_add_char(buf, '\'');
	while (*text) {
		size_t len;
		const char *at = next(&text, &len);

		if (*at == '"')
			buf_add_char(buf, '"');
		(void)buf_append(buf, at, len);
	}
	buf_add_char(buf, '"');
}

/*
 * An even number of backslashes before the one of `\|` would undo it, and the cell would end in the
 * middle of its code span (GitHub Flavored Markdown 4.10, example 200).
 */
void words_markdown(struct buf *buf, const char *text)
{
	size_t backslashes = 0; /* that came just before */

	while (*text) {
		size_t len;
		const char *at = next(&text, &len);

		if (*at == '|')
			buf_add(buf, backslashes % 2 ? "\\\\|" : "\\|");
		else if (*at == '`')
			buf_add_char(buf, '\'');
		else
			(void)buf_append(buf, at, len);
		backslashes = *at == '\\' ? backslashes + 1 : 0;
	}
}

size_t words_width(const char *text)
{
	size_t n = 0;

	while (*text) {
		size_t len;

		(void)next(&text, &len);
		n++;
	}
	return n;
}

void words_count(struct buf *buf, uint64_t value)
{
	char digits[32];
	size_t n = 0;

	do
		digits[n++] = (char)('0' + value % 10);
	while (value /= 10);
	while (n) {
		n--;
		buf_add_char(buf, digits[n]);
		if (n && n % 3 == 0)
			buf_add_char(buf, ',');
	}
}

/* A scale of units: the first whose step the number does not reach. */
struct scale {
	const char *unit;
	double step; /* to the next one; 0: the last */
};

/* SMALL: the decimals of what is less than ten. */
static void add_scaled(struct buf *buf, double value, const struct scale *scale, int small)
{
	const struct scale *first = scale;

	for (; scale->step > 0 && value >= scale->step; scale++)
		value /= scale->step;
	/* what was written in whole numbers has no decimals */
	if (scale == first)
		buf_printf(buf, "%.0f %s", value, scale->unit);
	else
		buf_printf(buf, "%.*f %s", value < 10 ? small : 1, value, scale->unit);
}

static const struct scale bytes[] = {{"B", 1024},   {"KiB", 1024}, {"MiB", 1024},
				     {"GiB", 1024}, {"TiB", 1024}, {"PiB", 0}};

/* NULL: a count. */
static const struct scale *scale_of(const char *unit)
{
	static const struct scale time[] = {
		{"ns", 1000}, {"us", 1000}, {"ms", 1000}, {"s", 3600}, {"h", 0}};

	if (strcmp(unit, "ns") == 0)
		return time;
	if (strcmp(unit, "us") == 0)
		return time + 1;
	if (strcmp(unit, "B") == 0 || strcmp(unit, "bytes") == 0)
		return bytes;
	return strcmp(unit, "KiB") == 0 ? bytes + 1 : NULL;
}

void words_amount(struct buf *buf, uint64_t value, const char *unit)
{
	const struct scale *scale = scale_of(unit);

	if (!value && scale && strchr("nu", *unit))
		buf_add(buf, "0 s"); /* of time: it is no finer than the rest */
	else if (scale)
		add_scaled(buf, (double)value, scale, 2);
	else
		words_count(buf, value);
}

const char *words_unit(uint64_t most, const char *unit, double *ret_divisor)
{
	const struct scale *scale = scale_of(unit);
	double divisor = 1;

	for (; scale && scale->step > 0 && (double)most >= divisor * scale->step; scale++)
		divisor *= scale->step;
	*ret_divisor = divisor;
	return scale ? scale->unit : unit;
}

void words_bytes(struct buf *buf, uint64_t value)
{
	add_scaled(buf, (double)value, bytes, 1);
}

void words_signed(struct buf *buf, int64_t value, const char *unit)
{
	/* the smallest number has no positive one */
	uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	if (value)
		buf_add_char(buf, value < 0 ? '-' : '+');
	words_amount(buf, size, unit);
}

double words_precision_points(double weight, double squares)
{
	double n = squares > 0 ? weight * weight / squares : 0;
	double points = n > 1 ? 100 * 1.96 * 0.5 / sqrt(n) : 100;

	return points < 100 ? points : 100;
}

void words_precision(struct buf *buf, double weight, double squares)
{
	double points = words_precision_points(weight, squares);

	buf_printf(buf, "within %.*f points (95 %%)", points < 1 ? 2 : points < 10 ? 1 : 0, points);
}

void words_share(struct buf *buf, double part, double whole)
{
	buf_printf(buf, "%.2f %%", whole > 0 ? 100 * part / whole : 0.0);
}

void words_seconds(struct buf *buf, uint64_t ns, uint64_t step_ns)
{
	enum { NS_DIGITS = 9 };
	uint64_t rest = ns % 1000000000;
	uint64_t unit = 1000000000;
	int digits = 0;

	while (digits < NS_DIGITS && step_ns && step_ns % unit != 0) {
		unit /= 10;
		digits++;
	}
	buf_printf(buf, "%llu", (unsigned long long)(ns / 1000000000));
	if (digits)
		buf_printf(buf, ".%0*llu", digits, (unsigned long long)(rest / unit));
}

void words_command(struct buf *buf, const char *text)
{
	static const char digits[] = "0123456789ABCDEF";

	for (; *text; text++) {
		const char *high = *text == '%' && text[1] ? strchr(digits, text[1]) : NULL;
		const char *low = high && text[2] ? strchr(digits, text[2]) : NULL;
		unsigned char c = (unsigned char)*text;

		if (low && high - digits < 8) { /* beyond ASCII it may be half a letter */
			c = (unsigned char)((high - digits) * 16 + (low - digits));
			text += 2;
		}
		if (c < 0x20 || c == 0x7f)
			c = ' ';
		buf_add_char(buf, (char)c);
	}
}
