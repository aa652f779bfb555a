/* sanitise.c - comm, symbol and module so that every consumer reads them whole */
#include "output/text/perf_script.h"

#include "base/utf8.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char mark = '_';

/*
 * HTML in any case, those of TAGS before '>' or a blank, which may follow the name; TeX as it
 * stands (libmagic 5.44).
 */
static const char *const tags[] = {"html", "head", "title", "script", "style", "table"};
static const char *const html[] = {"a href=", "!doctype html"};
static const char *const tex[] = {"begin",   "input",         "relax",     "section",
				  "chapter", "documentclass", "setlength", "contentsline"};

static bool opens_html(const char *text, size_t left)
{
	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		size_t len = strlen(tags[i]);

		if (left >= len && strncasecmp(text, tags[i], len) == 0 &&
		    (left == len || text[len] == '>' || text[len] == ' '))
			return true;
	}
	for (size_t i = 0; i < sizeof(html) / sizeof(html[0]); i++)
		if (left >= strlen(html[i]) && strncasecmp(text, html[i], strlen(html[i])) == 0)
			return true;
	return false;
}

static bool opens_tex(const char *text, size_t left)
{
	for (size_t i = 0; i < sizeof(tex) / sizeof(tex[0]); i++)
		if (left >= strlen(tex[i]) && strncmp(text, tex[i], strlen(tex[i])) == 0)
			return true;
	return false;
}

bool markup_opens(const char *text, size_t left)
{
	size_t at = 1;

	while (at < left && text[at] == mark)
		at++;
	return *text == '<' ? opens_html(text + at, left - at) : opens_tex(text + at, left - at);
}

void markup_restore(char *text)
{
	const char *end = text + strlen(text);
	char *to = text;

	for (const char *at = text; *at; at++) {
		*to++ = *at;
		if ((*at == '<' || *at == '\\') && at[1] == mark &&
		    markup_opens(at, (size_t)(end - at)))
			at++;
	}
	*to = '\0';
}

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

enum { COMM_MAX = 15 }; /* the kernel keeps no more */

struct text {
	char *out;
	size_t len;
};

static void add(struct text *text, const char *bytes, size_t len)
{
	if (text->len + len >= SANITISED_COMM_SIZE)
		return;
	memcpy(text->out + text->len, bytes, len);
	text->len += len;
}

/* Whether libmagic would name a whole file after this word at the start of a line. */
static bool names_a_file_type(const char *comm, size_t len)
{
	static const char *const words[] = {"struct", "extern", "union", "public:", "private:"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (len == strlen(words[i]) && memcmp(comm, words[i], len) == 0)
			return true;
	}
	return len == 3 && comm[0] == '.'; /* troff: .TH .de .sp */
}

static size_t add_character(struct text *text, const char *at, size_t left)
{
	uint32_t code;
	size_t len = utf8_next(at, left, &code);

	if (len == 0) {
		add(text, "\xef\xbf\xbd", 3);
		return 1;
	}
	if (left >= 2 && memcmp(at, "->", 2) == 0) { /* FlameScope splits there */
		add(text, "\xe2\x86\x92", 3);
		return 2;
	}
	if (utf8_breaks(code))
		add(text, "_", 1);
	else if (code == ';') /* it parts the frames of a folded stack */
		add(text, ":", 1);
	else
		add(text, at, len);
	if ((code == '<' || code == '\\') && markup_opens(at, left))
		add(text, "_", 1);
	return len;
}

bool sanitise_comm(const char *comm, size_t size, pid_t tid, char out[static SANITISED_COMM_SIZE])
{
	size_t len = strnlen(comm, size < COMM_MAX ? size : COMM_MAX);
	struct text text = {.out = out};
	size_t n_characters = 0;

	if (len == 0) {
		(void)snprintf(out, SANITISED_COMM_SIZE, ":%d", (int)tid);
		return true;
	}
	if (comm[0] == '#' || names_a_file_type(comm, len)) {
		add(&text, "_", 1);
		n_characters++;
	}
	for (size_t i = 0; i < len; n_characters++)
		i += add_character(&text, comm + i, len - i);
	if (n_characters == 1)
		add(&text, "_", 1);
	out[text.len] = '\0';
	return text.len != len || memcmp(out, comm, len) != 0;
}

/* Bytes that may need a change; all others are copied in runs. */
enum byte_class {
	BYTE_CONTROL = 1, /* below the blank, and DEL */
	BYTE_HIGH = 2,    /* part of UTF-8, or broken */
	BYTE_BLANK = 4,
	BYTE_PAREN = 8,
	BYTE_ARROW = 16,  /* - */
	BYTE_MARKUP = 32, /* < and \ */
	BYTE_PLUS = 64,   /* FlameScope cuts a name there */
};

static const unsigned char byte_classes[256] = {
	[0 ... 31] = BYTE_CONTROL, [127] = BYTE_CONTROL, [128 ... 255] = BYTE_HIGH,
	[' '] = BYTE_BLANK,        ['('] = BYTE_PAREN,   [')'] = BYTE_PAREN,
	['-'] = BYTE_ARROW,        ['<'] = BYTE_MARKUP,  ['\\'] = BYTE_MARKUP,
	['+'] = BYTE_PLUS,
};

static const char arrow[] = "\xe2\x86\x92"; /* U+2192 */
static const char anonymous[] = "(anonymous namespace)";

struct name {
	const char *text;
	size_t len;
	unsigned special; /* classes that this kind of name does not take as they are */
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
		unsigned class = 0;

		while (at < end && !(class = byte_classes[(unsigned char)*at] & name->special))
			at++;
		(void)buf_append(buf, run, (size_t)(at - run));
		if (at == end)
			return;
		if (class == BYTE_HIGH) {
			at += add_high(buf, at, (size_t)(end - at));
		} else if (class == BYTE_MARKUP) {
			at += add_markup(buf, at, (size_t)(end - at));
		} else if (class == BYTE_ARROW) {
			at += add_arrow(buf, at, (size_t)(end - at));
		} else if (class & (BYTE_CONTROL | BYTE_PLUS)) {
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
	struct name name = {.special = BYTE_CONTROL | BYTE_HIGH | BYTE_BLANK | BYTE_PAREN |
				       BYTE_ARROW | BYTE_MARKUP};

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
		.special = BYTE_CONTROL | BYTE_HIGH | BYTE_BLANK | BYTE_PAREN | more,
	};

	if (name.len == 0)
		return false;
	add_name(buf, &name, odd_in_module);
	return true;
}

bool sanitise_module(struct buf *buf, const char *module)
{
	return add_path(buf, module, strnlen(module, SANITISE_MAX_NAME), BYTE_MARKUP);
}

bool sanitise_basename(struct buf *buf, const char *module)
{
	static const char deleted[] = " (deleted)";
	const char *slash = strrchr(module, '/');
	const char *base = slash ? slash + 1 : module;
	size_t len = strlen(base);

	if (len > sizeof(deleted) - 1 && strcmp(base + len - (sizeof(deleted) - 1), deleted) == 0)
		len -= sizeof(deleted) - 1;
	return add_path(buf, base, len, BYTE_ARROW | BYTE_PLUS | BYTE_MARKUP);
}
