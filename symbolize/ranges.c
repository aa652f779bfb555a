/* ranges.c - from the name of a function to its code */
#include "symbolize/internal.h"

#include <ctype.h>
#include <string.h>

enum { WORD_BYTES = 256 };

/* Mangled names have a letter or two for these (Itanium C++ ABI, 5.1; Rust RFC 2603). */
static bool is_abbreviated(const char *word, size_t len)
{
	static const char *const words[] = {
		"allocator",     "anonymous",    "auto",     "basic_iostream", "basic_istream",
		"basic_ostream", "basic_string", "bool",     "char",           "char_traits",
		"closure",       "const",        "decltype", "double",         "float",
		"impl",          "iostream",     "istream",  "lambda",         "long",
		"namespace",     "operator",     "ostream",  "shim",           "short",
		"signed",        "string",       "unsigned", "volatile",       "vtable",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == len && memcmp(words[i], word, len) == 0)
			return true;
	return false;
}

/* The longest identifier that a mangled name has as it is; "" if there is none. */
static void longest_word(const char *name, char word[WORD_BYTES])
{
	const char *best = name;
	size_t best_len = 0;

	while (*name) {
		size_t len = 0;

		while (isalnum((unsigned char)name[len]) || name[len] == '_')
			len++;
		if (len > best_len && !is_abbreviated(name, len)) {
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
