/*
 * function_show.h - how a function is shown, kept with its table
 *
 * DWARF does not say it all: a symbol tells a part or a copy from the function (.cold, .part.0),
 * or is all that there is; and names are mangled.  Kept with the table, neither symbol tables nor
 * the demangler are needed the next time.
 */
#ifndef FUNCTION_FUNCTION_SHOW_H
#define FUNCTION_FUNCTION_SHOW_H

#include "base/buf.h"
#include "symbolize/function/function_table.h"

/* What is added to a table.  Zero is empty; function_show_begin() makes it usable again. */
struct function_show {
	struct function_table table;
	struct buf symbols;
	struct buf readable;
	struct buf strings;
};

/**
 * function_show_begin - add to this table, which has nothing of it yet
 * @table: outlives what is done with SHOW
 *
 * Context: any thread, one at a time for one of them, as for all of these.
 */
void function_show_begin(struct function_show *show, const struct function_table *table);

/**
 * function_show_symbol - from ADDR to the next one's this symbol is shown
 * @addr: in the function; ascending, the first is the lowest of the function's
 * @symbol: its strings are copied; start at most 4 GiB before ADDR, else it is none
 *
 * Context: any thread, one at a time for one of them.
 */
void function_show_symbol(struct function_show *show, uint64_t addr,
			  const struct function_symbol *symbol);

/**
 * function_show_readable - how a name of the table is shown
 * @name: a level's, as function_table_find() gave it
 * @readable: copied
 *
 * Context: any thread, one at a time for one of them.
 */
void function_show_readable(struct function_show *show, const char *name, const char *readable);

/**
 * function_show_finish - the table with what was added
 *
 * Return:  0; -ENODATA: nothing was added; -E2BIG; -ENOMEM.
 * Owns:    the caller, to free() RET_TABLE->bytes.
 * Context: any thread, one at a time for one of them.
 */
int function_show_finish(struct function_show *show, struct function_table *ret_table);

/**
 * function_show_release - give back the memory
 *
 * Context: any thread, one at a time for one of them.
 */
void function_show_release(struct function_show *show);

#endif
