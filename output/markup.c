/* markup.c - the words that libmagic searches for in the first kilobytes of a text */
#include "output/markup.h"

#include <string.h>
#include <strings.h>

static const char *const words[] = {
	"<html",   "<head",   "<title",    "<body",     "<script",    "<style",      "<table",
	"<a href", "<h1",     "<svg",      "<!doctype", "<!--",       "<?xml",       "\\begin",
	"\\input", "\\relax", "\\section", "\\chapter", "\\document", "\\setlength", "\\contents",
};

bool markup_opens(const char *text, size_t left)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t len = strlen(words[i]);

		if (left >= len && strncasecmp(text, words[i], len) == 0)
			return true;
	}
	return false;
}
