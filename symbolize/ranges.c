/* ranges.c - from a place in a page to the functions that may begin there */
#include "symbolize/internal.h"

size_t symbolizer_ranges(struct module *module, unsigned page_offset,
			 struct symbol_range *ret_ranges, size_t max)
{
	const struct symbol_table *table = &module->elf.symbols;
	size_t n = 0;

	module_read_names(module);
	for (size_t i = 0; i < table->n_symbols && n < max; i++) {
		const struct symbol *symbol = &table->symbols[i];

		if ((symbol->addr & SYMBOL_PAGE_MASK) != page_offset ||
		    (n && ret_ranges[n - 1].start == symbol->addr))
			continue;
		ret_ranges[n++] = (struct symbol_range){symbol->addr, symbol->end};
	}
	return n;
}
