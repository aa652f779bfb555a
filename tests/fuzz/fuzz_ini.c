/* fuzz_ini.c - any text as a wick.ini: entries lie in it, in order, or the reason has its line */
#include "tools/cli/cmd.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

struct seen {
	const char *text;
	size_t len;
	unsigned line;
};

static void must_lie_in(const struct seen *seen, const char *word)
{
	if (word < seen->text || word > seen->text + seen->len || strchr(word, '\n'))
		abort();
}

static int take(void *context, const struct ini_entry *entry, struct err *err)
{
	struct seen *seen = context;

	must_lie_in(seen, entry->section);
	must_lie_in(seen, entry->key);
	must_lie_in(seen, entry->value);
	if (!*entry->key || entry->line <= seen->line)
		abort();
	seen->line = entry->line;
	return *entry->value == '!' ? err_set(err, 0, "'%s'", entry->value) : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	char *text = malloc(size + 1);
	struct seen seen = {.text = text, .len = size};
	struct err err = {0};

	if (!text)
		return 0;
	memcpy(text, input, size);
	text[size] = '\0';
	if (ini_read("wick.ini", text, take, &seen, &err) < 0 && !strstr(err.text, "' line "))
		abort();
	free(text);
	return 0;
}
