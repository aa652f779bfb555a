/* json.c - strings and members of JSON */
#include "base/json.h"

#include "base/utf8.h"

#include <limits.h>
#include <string.h>

enum { MAX_DEPTH = 32 };

static const char *skip_blanks(const char *at)
{
	while (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')
		at++;
	return at;
}

/* From the opening quote to the closing one; NULL when there is none. */
static const char *string_end(const char *at)
{
	for (at++; *at && *at != '"'; at++)
		if (*at == '\\' && *++at == '\0')
			return NULL;
	return *at ? at : NULL;
}

/* A plain value at AT; false when it is an object or an array, or nothing at all. */
static bool take_value(const char *at, struct json_pair *pair, const char **ret_end)
{
	const char *end;

	pair->is_string = *at == '"';
	if (pair->is_string) {
		end = string_end(at);
		if (!end)
			return false;
		pair->value = at + 1;
		pair->value_len = (size_t)(end - at - 1);
		*ret_end = end + 1;
		return true;
	}
	pair->value = at;
	pair->value_len = strcspn(at, ",{}[] \t\r\n\"");
	*ret_end = at + pair->value_len;
	return pair->value_len > 0;
}

/* A string at scan->at: a name with a plain value, or something to pass over. */
static bool take_string(struct json_scan *scan, struct json_pair *ret_pair, bool *ret_is_pair)
{
	struct json_pair pair = {.name = scan->at + 1, .depth = scan->depth};
	const char *end = string_end(scan->at);
	const char *next;

	*ret_is_pair = false;
	if (!end)
		return false;
	pair.name_len = (size_t)(end - pair.name);
	scan->at = end + 1;
	next = skip_blanks(end + 1);
	if (*next != ':')
		return true;
	next = skip_blanks(next + 1);
	scan->at = next;
	if (take_value(next, &pair, &next)) {
		scan->at = next;
		*ret_pair = pair;
		*ret_is_pair = true;
	}
	return true;
}

bool json_scan_next(struct json_scan *scan, struct json_pair *ret_pair)
{
	bool is_pair;

	while (*(scan->at = skip_blanks(scan->at))) {
		if (*scan->at == '"') {
			const char *before = scan->at;

			if (!take_string(scan, ret_pair, &is_pair) || scan->at == before)
				return false;
			if (is_pair)
				return true;
			continue;
		}
		if ((*scan->at == '{' || *scan->at == '[') && ++scan->depth > MAX_DEPTH)
			return false;
		if ((*scan->at == '}' || *scan->at == ']') && scan->depth-- == 0)
			return false;
		scan->at++;
	}
	return false;
}

bool json_scan_is(const struct json_pair *pair, const char *name)
{
	return strlen(name) == pair->name_len && memcmp(pair->name, name, pair->name_len) == 0;
}

bool json_scan_number(const struct json_pair *pair, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (pair->is_string || pair->value_len == 0)
		return false;
	for (size_t i = 0; i < pair->value_len; i++) {
		char c = pair->value[i];

		if (c < '0' || c > '9' || __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(c - '0'), &value))
			return false;
	}
	*ret_value = value;
	return true;
}

/* Most words are of a few bytes: strcspn() takes longer to begin. */
static const char *word_end(const char *at)
{
	static const bool ends[UCHAR_MAX + 1] = {
		['\0'] = true, [','] = true,  [':'] = true,  ['{'] = true,
		['}'] = true,  ['['] = true,  [']'] = true,  [' '] = true,
		['\t'] = true, ['\r'] = true, ['\n'] = true, ['"'] = true,
	};

	while (!ends[(unsigned char)*at])
		at++;
	return at;
}

const char *json_skip(const char *value)
{
	size_t depth = 0;

	for (const char *at = value; at;) {
		at = skip_blanks(at);
		if (*at == '"') {
			at = string_end(at);
			at = at ? at + 1 : NULL;
		} else if (*at == '{' || *at == '[') {
			depth++;
			at++;
			continue;
		} else if (depth && (*at == ',' || *at == ':')) {
			at++;
			continue;
		} else if (depth && (*at == '}' || *at == ']')) {
			depth--;
			at++;
		} else {
			const char *end = word_end(at);

			at = end > at ? end : NULL;
		}
		if (depth == 0)
			return at;
	}
	return NULL;
}

const char *json_find(const char *object, const char *name)
{
	const size_t len = strlen(name);
	const char *at = object ? skip_blanks(object) : "";

	if (*at != '{')
		return NULL;
	do {
		const char *start = skip_blanks(at + 1);
		const char *end = *start == '"' ? string_end(start) : NULL;

		at = end ? skip_blanks(end + 1) : "";
		if (*at != ':')
			return NULL;
		if ((size_t)(end - start - 1) == len && memcmp(start + 1, name, len) == 0)
			return at + 1;
		at = json_skip(at + 1);
		at = at ? skip_blanks(at) : "";
	} while (*at == ',');
	return NULL;
}

const char *json_first(const char *array)
{
	const char *at = array ? skip_blanks(array) : "";

	if (*at != '[')
		return NULL;
	at = skip_blanks(at + 1);
	return *at && *at != ']' ? at : NULL;
}

const char *json_next(const char *element)
{
	const char *at = json_skip(element);

	at = at ? skip_blanks(at) : "";
	return *at == ',' ? at + 1 : NULL;
}

/* Four hexadecimal digits; UINT32_MAX: they are none. */
static uint32_t unit_at(const char *at)
{
	uint32_t unit = 0;

	for (int i = 0; i < 4; i++) {
		const char *digits = "0123456789abcdef0123456789ABCDEF";
		const char *digit = at[i] ? strchr(digits, at[i]) : NULL;

		if (!digit)
			return UINT32_MAX;
		unit = unit << 4 | (uint32_t)((digit - digits) & 15);
	}
	return unit;
}

static void add_byte(struct buf *buf, uint32_t byte)
{
	(void)buf_append(buf, &(unsigned char){(unsigned char)byte}, 1);
}

static void add_utf8(struct buf *buf, uint32_t code)
{
	if (code < 0x80) {
		add_byte(buf, code);
		return;
	}
	if (code < 0x800) {
		add_byte(buf, 0xc0 | code >> 6);
	} else {
		if (code < 0x10000) {
			add_byte(buf, 0xe0 | code >> 12);
		} else {
			add_byte(buf, 0xf0 | code >> 18);
			add_byte(buf, 0x80 | (code >> 12 & 63));
		}
		add_byte(buf, 0x80 | (code >> 6 & 63));
	}
	add_byte(buf, 0x80 | (code & 63));
}

/* After the backslash of \uXXXX, perhaps of two of them; where the escape ends. */
static const char *add_unicode(struct buf *buf, const char *at)
{
	uint32_t code = unit_at(at + 1);
	const char *end = code == UINT32_MAX ? at + 1 : at + 5;

	if (code >= 0xd800 && code < 0xdc00 && end[0] == '\\' && end[1] == 'u') {
		uint32_t low = unit_at(end + 2);

		if (low >= 0xdc00 && low < 0xe000) {
			code = 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00));
			end += 6;
		}
	}
	if (code == 0 || code == UINT32_MAX || (code >= 0xd800 && code < 0xe000))
		code = UTF8_REPLACEMENT_CODE;
	add_utf8(buf, code);
	return end;
}

bool json_string(const char *value, struct buf *buf)
{
	static const char escapes[] = "b\bf\fn\nr\rt\t";
	const char *at = value ? skip_blanks(value) : "";
	const char *end = *at == '"' ? string_end(at) : NULL;

	if (!end)
		return false;
	for (at++; at < end;) {
		const char *stop = memchr(at, '\\', (size_t)(end - at));
		const char *known;

		stop = stop ? stop : end;
		(void)buf_append(buf, at, (size_t)(stop - at));
		at = stop;
		if (at == end)
			break;
		known = strchr(escapes, at[1]);
		if (at[1] == 'u') {
			at = add_unicode(buf, at + 1);
			continue;
		}
		(void)buf_append(buf, known && (known - escapes) % 2 == 0 ? known + 1 : at + 1, 1);
		at += 2;
	}
	return true;
}

/* The part of a number after its sign: digits, of which the first POINT are whole. */
struct decimal {
	const char *digits;
	int64_t n; /* with the point among them */
	int64_t point;
};

/* -123.5e3: its exponent, and where its digits are. */
static bool read_decimal(const char *at, struct decimal *ret_decimal)
{
	enum { MANY = 1000 };
	size_t whole = strspn(at, "0123456789");
	size_t rest = at[whole] == '.' ? 1 + strspn(at + whole + 1, "0123456789") : 0;
	const char *end = at + whole + rest;
	int64_t power = 0;

	if (whole == 0)
		return false;
	if (*end == 'e' || *end == 'E') {
		bool negative = end[1] == '-';

		end += 1 + (end[1] == '-' || end[1] == '+');
		for (; *end >= '0' && *end <= '9'; end++)
			power = power < MANY ? power * 10 + (*end - '0') : power;
		power = negative ? -power : power;
	}
	*ret_decimal = (struct decimal){at, (int64_t)(whole + rest), (int64_t)whole + power};
	return true;
}

bool json_decimal(const char *value, int digits, int64_t *ret_value)
{
	const char *at = value ? skip_blanks(value) : "";
	bool negative = *at == '-';
	struct decimal decimal;
	uint64_t sum = 0;
	int64_t left;

	if (!read_decimal(at + negative, &decimal))
		return false;
	left = decimal.point + digits;
	for (int64_t i = 0; i < decimal.n && left >= 0; i++) {
		char c = decimal.digits[i];

		if (c == '.')
			continue;
		if (left-- == 0)
			sum += c >= '5' && sum < INT64_MAX;
		else if (sum > (INT64_MAX - 9) / 10)
			sum = INT64_MAX;
		else
			sum = sum * 10 + (uint64_t)(c - '0');
	}
	for (; left > 0 && sum && sum < INT64_MAX; left--)
		sum = sum > INT64_MAX / 10 ? INT64_MAX : sum * 10;
	*ret_value = negative ? -(int64_t)sum : (int64_t)sum;
	return true;
}

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
	buf_add(buf, buf->len && buf->data[buf->len - 1] != '{' ? ",\"" : "\"");
	buf_add(buf, name);
	buf_add(buf, "\":");
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
