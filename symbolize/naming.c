/* naming.c - the loader adds names to tables; the main thread makes entries of them */
#include "symbolize/naming.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SYMBOLS = 16 * 1024 }; /* in code that DWARF has as one, without a name */

/* Of code without DWARF. */
static struct function_symbol symbol_at(const struct module_names *elf, uint64_t vaddr)
{
	const struct symbol *symbol = symbol_table_find(&elf->symbols, vaddr);
	uint64_t start;

	if (symbol)
		return (struct function_symbol){
			.name = symbol_table_name(&elf->symbols, symbol),
			.start = symbol->addr,
		};
	start = fde_start(&elf->fdes, vaddr);
	return (struct function_symbol){.name = start == FDE_NONE ? NULL : "", .start = start};
}

/* How far it is the symbol of the code after VADDR. */
static uint64_t limit_of(const struct module_names *elf, uint64_t vaddr)
{
	uint64_t symbols = symbol_table_limit(&elf->symbols, vaddr);
	uint64_t fdes = fde_limit(&elf->fdes, vaddr);

	return fdes > vaddr && fdes < symbols ? fdes : symbols;
}

static void show(struct naming *naming, uint64_t vaddr, struct function_symbol symbol)
{
	if (symbol.name && symbol.name[0])
		symbol.readable =
			names_readable(&naming->names, symbol.name, &naming->module->demangling);
	function_show_symbol(&naming->show, vaddr, &symbol);
	naming->n_symbols++;
}

/* A range of a function that DWARF names. */
static void show_named(struct naming *naming, const struct module_names *elf, uint64_t lo,
		       const char *name)
{
	struct function_symbol symbol = symbol_at(elf, lo);

	if (!symbol.name || symbol.start != lo || strcmp(symbol.name, name) == 0 ||
	    !names_same_function(&naming->names, symbol.name, name, &naming->module->demangling))
		symbol.name = NULL;
	show(naming, lo, symbol);
}

static void show_nameless(struct naming *naming, const struct module_names *elf, uint64_t lo,
			  uint64_t hi)
{
	while (lo < hi && naming->n_symbols < MAX_SYMBOLS) {
		show(naming, lo, symbol_at(elf, lo));
		lo = limit_of(elf, lo);
	}
	if (lo < hi)
		show(naming, lo, (struct function_symbol){.name = NULL});
}

void naming_begin(struct naming *naming, struct module *module, const struct function_table *table)
{
	const struct function_chain *chain = &naming->chain;
	const struct module_names *elf = &module->elf;
	uint64_t lo;
	uint64_t hi;

	naming->module = module;
	function_show_begin(&naming->show, table);
	naming->n_symbols = 0;
	for (size_t nth = 0; function_table_range(table, nth, &lo, &hi); nth++) {
		const char *name = function_table_find(table, lo, &naming->chain) == 0
					   ? chain->levels[chain->n_levels - 1].name
					   : "";

		if (name[0])
			show_named(naming, elf, lo, name);
		else
			show_nameless(naming, elf, lo, hi);
	}
}

void naming_request(struct naming *naming, uint64_t vaddr)
{
	const struct function_chain *chain = &naming->chain;

	if (function_table_find(&naming->show.table, vaddr, &naming->chain) < 0)
		return;
	for (size_t i = 0; i < chain->n_levels; i++) {
		const char *name = chain->levels[i].name;
		const char *readable =
			name[0] ? names_readable(&naming->names, name, &naming->module->demangling)
				: NULL;

		if (readable)
			function_show_readable(&naming->show, name, readable);
	}
}

int naming_finish(struct naming *naming, struct function_table *ret_table)
{
	return function_show_finish(&naming->show, ret_table);
}

void naming_release(struct naming *naming)
{
	names_release(&naming->names);
	function_show_release(&naming->show);
}

/* A name for code without one: where its function begins, so that samples of it stay together. */
static const char *name_by_start(struct names *names, const struct module *module, uint64_t start)
{
	const char *slash = strrchr(module->path, '/');
	const char *base = slash ? slash + 1 : module->path;
	char text[320];
	size_t len;

	if (!*base)
		return NULL;
	base += *base == '['; /* [vdso] */
	len = strcspn(base, "]");
	(void)snprintf(text, sizeof(text), "[%.*s@0x%llx]", len > 255 ? 255 : (int)len, base,
		       (unsigned long long)start);
	/* FlameScope cuts a name at its first "+". */
	for (char *plus = text; (plus = strchr(plus, '+'));)
		*plus = '_';
	return names_intern(names, text);
}

static const char *readable_of(struct names *names, struct module *module, const char *name,
			       const char *readable)
{
	return readable && !names->full ? names_intern(names, readable)
					: names_readable(names, name, &module->demangling);
}

static void name_by_symbol(struct names *names, struct module *module,
			   const struct function_symbol *symbol, struct address_entry *entry)
{
	if (!symbol->name)
		return;
	entry->start = symbol->start;
	entry->named = symbol->name[0] != '\0';
	entry->function.symbol =
		entry->named ? readable_of(names, module, symbol->name, symbol->readable)
			     : name_by_start(names, module, symbol->start);
}

static void set_level(struct names *names, struct module *module, const struct function_level *from,
		      struct address_function *to)
{
	to->symbol = from->name[0] ? readable_of(names, module, from->name, from->readable) : NULL;
	to->file = from->file[0] ? names_intern(names, from->file) : NULL;
	to->line = from->line;
}

struct address_entry *naming_entry(struct names *names, struct module *module, uint64_t vaddr,
				   const struct function_chain *chain)
{
	size_t n_inlined = chain ? chain->n_levels - 1 : 0;
	struct address_entry *entry = address_entry_new(n_inlined);
	struct function_symbol symbol = {.name = NULL};

	if (!entry)
		return NULL;
	for (size_t i = 0; i < n_inlined; i++)
		set_level(names, module, &chain->levels[i], &entry->inlined[i]);
	if (chain) {
		set_level(names, module, &chain->levels[n_inlined], &entry->function);
		entry->start = chain->start;
		entry->named = entry->function.symbol != NULL;
		symbol = chain->symbol;
	} else if (module_has_names(module)) {
		symbol = symbol_at(&module->elf, vaddr);
	}
	name_by_symbol(names, module, &symbol, entry);
	return entry;
}
