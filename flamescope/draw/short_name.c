/* short_name.c - what a name can do without: arguments of templates, then its end */
#include "flamescope/draw/internal.h"

#include "base/words.h"

#include <stdbool.h>
#include <string.h>

enum { NAME_BYTES = 16 * 1024 * 1024 };

static const char dots[] = "..";

/* The characters of an operator's name, at AT after "operator": they open and close nothing. */
static size_t operator_length(const char *name, const char *at)
{
	static const char word[] = "operator";
	size_t len = strlen(word);

	if ((size_t)(at - name) < len || strncmp(at - len, word, len) != 0)
		return 0;
	return strspn(at, "<>=-");
}

/* Whether "<" or ">" here is an argument list's, and not an arrow's. */
static bool is_bracket(const char *name, const char *at)
{
	return *at == '<' || (*at == '>' && (at == name || (at[-1] != '-' && at[-1] != '=')));
}

/* NAME with `..` for the arguments of its outermost templates; false when brackets do not pair. */
static bool fold(struct buf *buf, const char *name)
{
	size_t depth = 0;

	for (const char *at = name; *at; at++) {
		size_t n = operator_length(name, at);

		if (n) {
			if (!depth)
				(void)buf_append(buf, at, n);
			at += n - 1;
			continue;
		}
		if (is_bracket(name, at) && *at == '>' && depth-- == 0)
			return false;
		if (!depth)
			buf_add_char(buf, *at);
		if (is_bracket(name, at) && *at == '<' && depth++ == 0)
			buf_add(buf, dots);
	}
	return depth == 0;
}

/* The first COLUMNS code points of a text, the last of which are dots when there are more. */
static void add_cut(struct buf *buf, const char *text, size_t columns)
{
	size_t left = words_width(text) <= columns ? columns : columns - strlen(dots);
	const char *end = text;

	for (; *end; end++)
		/* a byte that goes on with a code point takes no column */
		if (((unsigned char)*end & 0xc0) != 0x80 && left-- == 0)
			break;
	(void)buf_append(buf, text, (size_t)(end - text));
	if (*end)
		buf_add(buf, dots);
}

void short_name(struct buf *buf, const char *name, size_t columns)
{
	struct buf folded, plain;

	if (columns <= strlen(dots) || words_width(name) <= columns) {
		words_plain(buf, name);
		return;
	}
	buf_init(&folded, NAME_BYTES);
	buf_init(&plain, NAME_BYTES);
	words_plain(&plain, fold(&folded, name) ? buf_text(&folded) : name);
	add_cut(buf, buf_text(&plain), columns);
	buf_release(&folded);
	buf_release(&plain);
}
