/* demangle.c - readable names, through libiberty */
#include "symbolize/symbolize.h"

#include "base/buf.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* A readable name is cut at twice what is written of any name. */
enum { MAX_MANGLED = 64 * 1024, MAX_READABLE = 32 * 1024, MAX_TIDIED = 8 * 1024 };

/* What compilers append to the name of a part or a copy of a function. */
static const char *const PARTS[] = {".cold", ".part", ".isra", ".constprop"};

/*
 * What is written to, and the way out once it is full.  A short name can stand for 2^40 characters,
 * and what a callback returns tells nobody to stop.
 */
struct sink {
	struct buf *buf;
	jmp_buf full;
};

static void append(const char *text, size_t len, void *context)
{
	struct sink *sink = context;
	size_t room = MAX_READABLE - sink->buf->len;

	(void)buf_append(sink->buf, text, len < room ? len : room);
	/* Behind it libiberty has nothing to clean up, but for the letters of a non-ASCII word. */
	if (len >= room || sink->buf->failed)
		longjmp(sink->full, 1); /* NOLINT(cert-err52-cpp) */
}

/* "17h" and 16 hexadecimal digits before the E: rustc's mangling before v0. */
static bool is_rust_legacy(const char *name, size_t len)
{
	if (len < 24 || name[len - 1] != 'E' || memcmp(name + len - 20, "17h", 3) != 0)
		return false;
	for (size_t i = len - 17; i < len - 1; i++)
		if (!isxdigit((unsigned char)name[i]))
			return false;
	return true;
}

/* Where the mangled name ends and what was appended to it begins. */
static size_t mangled_len(const char *name)
{
	size_t len = strcspn(name, "@");
	const char *dot = memchr(name, '.', len);

	/* In legacy Rust names dots are part of paths; there the hash ends the name. */
	while (dot && len - (size_t)(dot - name) > 1) {
		if (strncmp(dot, ".llvm.", 6) == 0)
			return (size_t)(dot - name);
		for (size_t i = 0; i < sizeof(PARTS) / sizeof(PARTS[0]); i++)
			if (strncmp(dot, PARTS[i], strlen(PARTS[i])) == 0)
				return (size_t)(dot - name);
		dot = memchr(dot + 1, '.', len - (size_t)(dot + 1 - name));
	}
	return len;
}

/* ".cold", ".part.0" and the like stay, ".llvm.123" and "@VERSION" go. */
static void append_parts(struct buf *buf, const char *suffix)
{
	while (*suffix == '.') {
		size_t word = 1 + strcspn(suffix + 1, ".@");
		size_t len = word;

		while (suffix[len] == '.' && isdigit((unsigned char)suffix[len + 1]))
			len += 1 + strcspn(suffix + len + 1, ".@");
		for (size_t i = 0; i < sizeof(PARTS) / sizeof(PARTS[0]); i++)
			if (strlen(PARTS[i]) == word && strncmp(suffix, PARTS[i], word) == 0)
				(void)buf_append(buf, suffix, len);
		suffix += len;
	}
	if (strcmp(suffix, "@plt") == 0)
		buf_add(buf, suffix);
}

static bool demangle(const char *name, int options, struct buf *buf)
{
	struct sink sink = {.buf = buf};

	if (setjmp(sink.full) != 0) /* NOLINT(cert-err52-cpp) */
		return true;
	if ((strncmp(name, "_R", 2) == 0 || is_rust_legacy(name, strlen(name))) &&
	    rust_demangle_callback(name, 0, append, &sink) && buf->len > 0)
		return true;
	buf_clear(buf);
	return strncmp(name, "_Z", 2) == 0 &&
	       cplus_demangle_v3_callback(name, options, append, &sink) && buf->len > 0;
}

/* One past the parenthesis that closes the one at OPEN, or NULL. */
static char *after_group(char *open)
{
	int depth = 0;

	for (char *at = open; *at; at++) {
		depth += (*at == '(') - (*at == ')');
		if (depth == 0)
			return at + 1;
	}
	return NULL;
}

/* What a method says of itself after its parameters. */
static char *after_qualifiers(char *at)
{
	static const char *const WORDS[] = {" const", " volatile", " &&", " &"};

	for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
		if (strncmp(at, WORDS[i], strlen(WORDS[i])) == 0)
			at += strlen(WORDS[i]);
	return at;
}

static bool ends_with(const char *text, const char *at, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(at - text) >= len && memcmp(at - len, word, len) == 0;
}

/*
 * Where the parameters at OPEN end, if it opens those of a lambda, a scope or a thunk.  What
 * comes before it is [TEXT, TO) by now.
 */
static char *after_parameters(const char *text, const char *to, char *open)
{
	bool thunk = strstr(text, "virtual thunk to ") != NULL;
	char *end = after_group(open);
	char *next = end ? after_qualifiers(end) : NULL;

	if (!end || to == text || ends_with(text, to, "operator"))
		return NULL;
	if (ends_with(text, to, "{lambda") && *end == '#')
		return end;
	if (!isalnum((unsigned char)to[-1]) && !strchr("_>)]}", to[-1]))
		return NULL;
	return strncmp(next, "::", 2) == 0 || (thunk && *next == '\0') ? next : NULL;
}

/*
 * The parameters of the function itself are not asked for; those inside the name go here:
 * "run(int)::{lambda(char)#1}" is "run::{lambda#1}".
 */
static void drop_parameters(char *text)
{
	char *to = text;

	/* A long name with many parentheses would take long: it can stay as it is. */
	if (strlen(text) > MAX_TIDIED)
		return;
	for (char *at = text; *at;) {
		char *end = *at == '(' ? after_parameters(text, to, at) : NULL;

		if (end)
			at = end;
		else
			*to++ = *at++;
	}
	*to = '\0';
}

static char *make_readable(const char *name, bool full)
{
	char *mangled;
	struct buf buf;
	char *readable = NULL;

	/* Mach-O's extra underscore travels with some compilers' JIT maps. */
	if (strncmp(name, "__Z", 3) == 0 || strncmp(name, "__R", 3) == 0)
		name++;
	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R') ||
	    strnlen(name, MAX_MANGLED + 1) > MAX_MANGLED)
		return NULL;
	mangled = strndup(name, mangled_len(name));
	if (!mangled)
		return NULL;
	buf_init(&buf, MAX_READABLE + MAX_MANGLED);
	if (demangle(mangled, full ? DMGL_PARAMS | DMGL_ANSI : 0, &buf)) {
		append_parts(&buf, name + strlen(mangled));
		readable = buf.failed ? NULL : strdup(buf_text(&buf));
		if (readable && !full)
			drop_parameters(readable);
	}
	buf_release(&buf);
	free(mangled);
	return readable;
}

char *symbolize_demangle(const char *name)
{
	return make_readable(name, false);
}

char *symbolize_demangle_full(const char *name)
{
	return make_readable(name, true);
}
