/*
 * symbol_table.h - sorted {address, end, name}: which symbol is this address in?
 *
 * Context: any thread, unless a function says otherwise.
 */
#ifndef ELF_SYMBOL_TABLE_H
#define ELF_SYMBOL_TABLE_H

#include "base/buf.h"
#include "symbolize/bounds/memory_limit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SYMBOL_TABLE_MAX = 8 * 1024 * 1024,
	SYMBOL_TABLE_MAX_NAME_BYTES = 512 * 1024 * 1024,
	SYMBOL_MAX_NAME = 1024 * 1024,
};

struct symbol {
	uint64_t addr;
	uint64_t end;     /* one past the last address it names */
	uint64_t max_end; /* the largest end up to and including this one */
	uint32_t name;    /* where in the names */
	uint32_t rank;    /* of two at one address the higher wins */
	uint32_t file;    /* where in the names, plus one; 0: not known */
	bool open;        /* has no size: reaches to the next symbol, at most to end */
};

/* Zero is an empty table.  Once finished it is only read: any thread may. */
struct symbol_table {
	struct symbol *symbols;
	size_t n_symbols;
	size_t n_room;
	struct buf names;
	struct memory_claim claim; /* for both; set its use first, where it is no file's */
	uint32_t last_file;        /* as in struct symbol: many in a row come from one file */
};

/* One symbol to add. */
struct symbol_entry {
	uint64_t addr;
	uint64_t size;  /* 0: not known */
	uint64_t limit; /* where one without a size ends at the latest */
	uint32_t rank;
	const char *name;
	size_t name_len;
	const char *file; /* source file; NULL: not known */
};

/**
 * symbol_table_add - take in a symbol
 *
 * Symbols that wrap around or have no name are passed over.
 *
 * Return:  0; -EFBIG when the table is at its limit, or memory for names is; -ENOMEM.
 * Owns:    the table copies the name.
 * Context: any thread.  One owner at a time.
 */
int symbol_table_add(struct symbol_table *table, const struct symbol_entry *entry);

/**
 * symbol_table_finish - sort, settle aliases and open ends; may be called again after more adds
 *
 * Context: any thread.  One owner at a time.
 */
void symbol_table_finish(struct symbol_table *table);

/**
 * symbol_table_find - the innermost symbol around an address
 *
 * Return:  the symbol, NULL if no symbol covers ADDR.
 * Owns:    the table.
 * Context: any thread.  The table is finished.
 */
const struct symbol *symbol_table_find(const struct symbol_table *table, uint64_t addr);

/**
 * symbol_table_limit - how far symbol_table_find() gives what it gives for ADDR
 *
 * Return:  more than ADDR; UINT64_MAX: to the end.
 * Context: any thread.  The table is finished.
 */
uint64_t symbol_table_limit(const struct symbol_table *table, uint64_t addr);

/**
 * symbol_table_find_latest - of all symbols around an address, the one with the highest rank
 *
 * Return:  the symbol, NULL if no symbol covers ADDR.
 * Owns:    the table.
 * Context: any thread.  The table is finished.
 */
const struct symbol *symbol_table_find_latest(const struct symbol_table *table, uint64_t addr);

/**
 * symbol_table_name - the name of a symbol, as it was added
 *
 * Owns:    the table.
 */
const char *symbol_table_name(const struct symbol_table *table, const struct symbol *symbol);

/**
 * symbol_table_file - the source file that a symbol was made from, mostly without its folder
 *
 * Return:  NULL: not known.
 * Owns:    the table.
 */
const char *symbol_table_file(const struct symbol_table *table, const struct symbol *symbol);

/**
 * symbol_table_copy - the same table once more
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller, to symbol_table_release().
 */
int symbol_table_copy(const struct symbol_table *table, struct symbol_table *ret_copy);

/** symbol_table_release - give back the memory; the table is empty and usable again */
void symbol_table_release(struct symbol_table *table);

#endif
