/*
 * naming.h - what code is called: by its symbol, by DWARF, or by where it begins
 *
 * The symbol at a function's start is shown where it means the same function: it says more of a
 * part or a copy (.cold, .part.0).  Another one there is another name of merged code.  Where DWARF
 * is silent there are symbols only, and bounds of code that has none.
 */
#ifndef SYMBOLIZE_NAMING_H
#define SYMBOLIZE_NAMING_H

#include "symbolize/function/function_table.h"
#include "symbolize/module.h"
#include "symbolize/names/names.h"

/* One loader thread's, for a batch.  Zero has nothing. */
struct naming {
	struct names names;
	struct function_show show;
	struct function_chain chain; /* scratch */
	struct module *module;
	size_t n_symbols;
};

/**
 * naming_begin - find what is shown of a table's function
 * @module: its symbol tables have been read
 * @table: outlives what is done with NAMING
 *
 * Context: any thread, one at a time for one of them, as for all of these.
 */
void naming_begin(struct naming *naming, struct module *module, const struct function_table *table);

/**
 * naming_request - names at this address are going to be shown
 *
 * Context: any thread, one at a time for one of them.
 */
void naming_request(struct naming *naming, uint64_t vaddr);

/**
 * naming_finish - the table, and what is shown of it
 *
 * Return:  0; -E2BIG; -ENOMEM.
 * Owns:    the caller, to free() RET_TABLE->bytes.
 * Context: any thread, one at a time for one of them.
 */
int naming_finish(struct naming *naming, struct function_table *ret_table);

/**
 * naming_release - give back the memory
 *
 * Context: any thread, one at a time for one of them.
 */
void naming_release(struct naming *naming);

/**
 * naming_entry - what is shown for an address of a module
 * @chain: what its table says; NULL: there is none, symbol tables have to do if they were read
 *
 * Return:  NULL when memory ran out.
 * Owns:    the caller, to free(); its strings are NAMES'.
 * Context: main thread.
 */
struct address_entry *naming_entry(struct names *names, struct module *module, uint64_t vaddr,
				   const struct function_chain *chain);

#endif
