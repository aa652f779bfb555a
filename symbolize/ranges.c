/* ranges.c - from the name of a function to its code */
#include "symbolize/internal.h"

#include <ctype.h>
#include <string.h>

enum { WORD_BYTES = 256 };

/* The longest identifier of a name: mangled names have it as it is. */
static void longest_word(const char *name, char word[WORD_BYTES])
{
	const char *best = name;
	size_t best_len = 0;

	while (*name) {
		size_t len = 0;

		while (isalnum((unsigned char)name[len]) || name[len] == '_')
			len++;
		if (len > best_len) {
			best = name;
			best_len = len;
		}
		name += len ? len : 1;
	}
	if (best_len >= WORD_BYTES)
		best_len = WORD_BYTES - 1;
	memcpy(word, best, best_len);
	word[best_len] = '\0';
}

static bool has_name(struct symbolizer *symbolizer, struct module *module, const char *symbol,
		     const char *name)
{
	const char *readable;

	if (strcmp(symbol, name) == 0)
		return true;
	readable = names_readable(&symbolizer->names, symbol, &module->demangling);
	return readable && strcmp(readable, name) == 0;
}

size_t symbolizer_ranges(struct symbolizer *symbolizer, struct module *module, const char *name,
			 struct symbol_range *ret_ranges, size_t max)
{
	const struct symbol_table *table = &module->elf.symbols;
	char word[WORD_BYTES];
	size_t n = 0;

	longest_word(name, word);
	module_read_names(module);
	for (size_t i = 0; i < table->n_symbols && n < max; i++) {
		const struct symbol *symbol = &table->symbols[i];
		const char *text = symbol_table_name(table, symbol);

		if (!strstr(text, word) || !has_name(symbolizer, module, text, name))
			continue;
		if (n && ret_ranges[n - 1].start == symbol->addr)
			continue;
		ret_ranges[n++] = (struct symbol_range){symbol->addr, symbol->end};
	}
	return n;
}
