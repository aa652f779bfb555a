/* markup.c - the words that libmagic searches for in the first kilobytes of a text */
#include "output/text/markup.h"

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
