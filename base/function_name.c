/* function_name.c - the suffixes that compilers append to the names of copies of a function */
#include "base/function_name.h"

#include <string.h>

/* Past one mark and its numbers, or NULL. */
static const char *skip_mark(const char *text)
{
	static const char *const marks[] = {".constprop", ".isra",     ".part",
					    ".cold",      ".lto_priv", ".llvm"};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		size_t len = strlen(marks[i]);

		if (strncmp(text, marks[i], len) != 0)
			continue;
		text += len;
		while (text[0] == '.' && text[1] >= '0' && text[1] <= '9')
			text += 1 + strspn(text + 1, "0123456789");
		return text;
	}
	return NULL;
}

static const char *skip_marks(const char *text)
{
	for (const char *next = text; next; next = skip_mark(text))
		text = next;
	return text;
}

size_t function_name_len(const char *name)
{
	for (const char *at = strchr(name, '.'); at;) {
		const char *end = skip_marks(at);

		if (*end == '\0' && at > name)
			return (size_t)(at - name);
		at = strchr(end == at ? at + 1 : end, '.');
	}
	return strlen(name);
}
