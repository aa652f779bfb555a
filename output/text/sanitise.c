/* sanitise.c - comm, symbol and module so that every consumer reads them whole */
#include "output/text/sanitise.h"

#include "base/utf8.h"
#include "output/text/markup.h"

#include <stdint.h>
#include <string.h>

/* Bytes that need a second look; all others are copied in runs. */
enum look {
	LOOK_CONTROL = 1, /* below the blank, and DEL */
	LOOK_HIGH = 2,    /* part of UTF-8, or broken */
	LOOK_BLANK = 4,
	LOOK_PAREN = 8,
	LOOK_ARROW = 16,  /* - */
	LOOK_MARKUP = 32, /* < and \ */
	LOOK_PLUS = 64,   /* FlameScope cuts a name there */
};

static const unsigned char looks[256] = {
	[0 ... 31] = LOOK_CONTROL, [127] = LOOK_CONTROL, [128 ... 255] = LOOK_HIGH,
	[' '] = LOOK_BLANK,        ['('] = LOOK_PAREN,   [')'] = LOOK_PAREN,
	['-'] = LOOK_ARROW,        ['<'] = LOOK_MARKUP,  ['\\'] = LOOK_MARKUP,
	['+'] = LOOK_PLUS,
};

static const char arrow[] = "\xe2\x86\x92"; /* U+2192 */
static const char anonymous[] = "(anonymous namespace)";

struct name {
	const char *text;
	size_t len;
	unsigned look; /* enum look: what this kind of name cares about */
};

static bool starts_with(const char *text, size_t left, const char *word)
{
	size_t len = strlen(word);

	return left >= len && memcmp(text, word, len) == 0;
}

/* Whether "12: " or "1.5: " stands here: after a blank FlameScope takes it for a time. */
static bool reads_as_time(const char *text, size_t left)
{
	size_t n = strspn(text, "0123456789.");

	if (n == 0 || n >= left || text[n] != ':')
		return false;
	return n + 1 == left || text[n + 1] == ' ';
}

/* One character that is not plain; returns how many bytes of the name it took. */
static size_t add_high(struct buf *buf, const char *text, size_t left)
{
	uint32_t code;
	size_t len = utf8_next(text, left, &code);

	if (len == 0) {
		buf_add(buf, UTF8_REPLACEMENT);
		return 1;
	}
	if (utf8_breaks(code))
		buf_add_char(buf, '_');
	else
		(void)buf_append(buf, text, len);
	return len;
}

static size_t add_markup(struct buf *buf, const char *text, size_t left)
{
	buf_add_char(buf, *text);
	if (markup_opens(text, left))
		buf_add_char(buf, '_');
	return 1;
}

static size_t add_arrow(struct buf *buf, const char *text, size_t left)
{
	if (left >= 2 && text[1] == '>') {
		buf_add(buf, arrow);
		return 2;
	}
	buf_add_char(buf, '-');
	return 1;
}

/* Copy a name; ODD handles the blanks and parentheses, whose rules differ by kind. */
static void add_name(struct buf *buf, const struct name *name,
		     size_t (*odd)(struct buf *buf, const char *text, size_t left))
{
	const char *at = name->text;
	const char *end = at + name->len;

	while (at < end) {
		const char *run = at;
		unsigned look = 0;

		while (at < end && !(look = looks[(unsigned char)*at] & name->look))
			at++;
		(void)buf_append(buf, run, (size_t)(at - run));
		if (at == end)
			return;
		if (look == LOOK_HIGH) {
			at += add_high(buf, at, (size_t)(end - at));
		} else if (look == LOOK_MARKUP) {
			at += add_markup(buf, at, (size_t)(end - at));
		} else if (look == LOOK_ARROW) {
			at += add_arrow(buf, at, (size_t)(end - at));
		} else if (look & (LOOK_CONTROL | LOOK_PLUS)) {
			buf_add_char(buf, '_');
			at++;
		} else {
			at += odd(buf, at, (size_t)(end - at));
		}
	}
}

static size_t odd_in_symbol(struct buf *buf, const char *text, size_t left)
{
	if (*text == ' ') {
		buf_add_char(buf, reads_as_time(text + 1, left - 1) ? '_' : ' ');
		return 1;
	}
	if (starts_with(text, left, anonymous)) {
		buf_add(buf, "{anonymous}");
		return sizeof(anonymous) - 1;
	}
	buf_add_char(buf, *text);
	return 1;
}

static size_t odd_in_module(struct buf *buf, const char *text, size_t left)
{
	(void)left;
	buf_add_char(buf, (char)(*text == ' ' ? '_' : *text == '(' ? '[' : ']'));
	return 1;
}

bool sanitise_symbol(struct buf *buf, const char *symbol)
{
	struct name name = {.look = LOOK_CONTROL | LOOK_HIGH | LOOK_BLANK | LOOK_PAREN |
				    LOOK_ARROW | LOOK_MARKUP};

	name.text = symbol + strspn(symbol, " ");
	name.len = strnlen(name.text, SANITISE_MAX_NAME);
	while (name.len && name.text[name.len - 1] == ' ')
		name.len--;
	if (name.len == 0)
		return false;
	if (*name.text == '(' && !starts_with(name.text, name.len, anonymous))
		buf_add(buf, "::");
	if (reads_as_time(name.text, name.len))
		buf_add_char(buf, '_');
	add_name(buf, &name, odd_in_symbol);
	return true;
}

static bool add_path(struct buf *buf, const char *path, size_t len, unsigned more)
{
	struct name name = {
		.text = path,
		.len = len < SANITISE_MAX_NAME ? len : SANITISE_MAX_NAME,
		.look = LOOK_CONTROL | LOOK_HIGH | LOOK_BLANK | LOOK_PAREN | more,
	};

	if (name.len == 0)
		return false;
	add_name(buf, &name, odd_in_module);
	return true;
}

bool sanitise_module(struct buf *buf, const char *module)
{
	return add_path(buf, module, strnlen(module, SANITISE_MAX_NAME), LOOK_MARKUP);
}

bool sanitise_basename(struct buf *buf, const char *module)
{
	static const char deleted[] = " (deleted)";
	const char *slash = strrchr(module, '/');
	const char *base = slash ? slash + 1 : module;
	size_t len = strlen(base);

	if (len > sizeof(deleted) - 1 && strcmp(base + len - (sizeof(deleted) - 1), deleted) == 0)
		len -= sizeof(deleted) - 1;
	return add_path(buf, base, len, LOOK_ARROW | LOOK_PLUS | LOOK_MARKUP);
}
