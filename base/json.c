/* json.c - strings and members of JSON */
#include "base/json.h"

#include "base/utf8.h"

#include <string.h>

enum { MAX_DEPTH = 32 };

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t\r\n");
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
