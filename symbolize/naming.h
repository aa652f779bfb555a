/*
 * naming.h - the name of code: its symbol, its name in DWARF, or the address where it begins
 *
 * The symbol at a function's start is shown where it means the same function: it tells a part or a
 * copy (.cold, .part.0) from the function.  A symbol of another function there is another name of
 * merged code.  Code without DWARF has only symbols, and without symbols only bounds.
 *
 * Context: any thread, one at a time for one of them, unless a function says otherwise.
 */
#ifndef SYMBOLIZE_NAMING_H
#define SYMBOLIZE_NAMING_H

#include "symbolize/function/function_table.h"
#include "symbolize/module.h"
#include "symbolize/names/names.h"

/* Of one thread of the loader, for a batch.  Zero is empty. */
struct naming {
	struct names names;
	struct function_show show;
	struct function_chain chain; /* scratch */
	struct module *module;
	size_t n_symbols;
};

/**
 * naming_begin - find the names that are shown of a table's function
 * @module: its symbol tables have been read
 * @table: outlives the use of NAMING
 */
void naming_begin(struct naming *naming, struct module *module, const struct function_table *table);

/** naming_request - add the readable names at this address */
void naming_request(struct naming *naming, uint64_t vaddr);

/**
 * naming_finish - the table with its symbols and readable names
 *
 * Return:  0; -E2BIG; -ENOMEM.
 * Owns:    the caller, to free() RET_TABLE->bytes.
 */
int naming_finish(struct naming *naming, struct function_table *ret_table);

/** naming_release - free the memory */
void naming_release(struct naming *naming);

/**
 * naming_entry - what is shown for an address of a module
 * @chain: what its table has; NULL: it has none: use the symbol tables if they were read
 *
 * Return:  NULL when memory ran out.
 * Owns:    the caller, to free(); its strings are NAMES'.
 * Context: main thread.
 */
struct address_entry *naming_entry(struct names *names, struct module *module, uint64_t vaddr,
				   const struct function_chain *chain);

#endif
