/*
 * function_table.h - one function's code: which inlined call an address is in, and which line
 *
 * A table is one block of bytes without pointers, the same in memory and in the disk cache: the
 * reader of DWARF builds it once a function is hit, the cache keeps it, and an address is looked
 * up in it in either place.  Offsets are from the lowest address of the function.
 *
 * Context: any thread, one at a time for one builder, unless a function says otherwise.
 */
#ifndef FUNCTION_FUNCTION_TABLE_H
#define FUNCTION_FUNCTION_TABLE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FUNCTION_MAX_DEPTH = 512,              /* of inlined calls in each other */
	FUNCTION_MAX_BYTES = 64 * 1024 * 1024, /* of a table */
	FUNCTION_NO_FILE = UINT32_MAX,
};

/* Bytes of a table, owned by the code that made or mapped them. */
struct function_table {
	const uint8_t *bytes;
	size_t n_bytes;
};

/* One level at an address: a function, and the line in it. */
struct function_level {
	const char *name;     /* linkage name, or the qualified name where there is none; "" none */
	const char *readable; /* the name as it is shown, without parameters; NULL: not kept */
	const char *file;     /* absolute where DWARF tells; "" unknown */
	uint32_t line;        /* 0: unknown */
	uint32_t column;      /* 0: unknown */
};

/* What symbol tables say of an address, where it is shown instead of what DWARF says. */
struct function_symbol {
	const char *name; /* NULL: nothing; "": code without a symbol begins at START */
	const char *readable;
	uint64_t start;
};

/* The levels at an address: level 0 the innermost inlined call, the last the function itself. */
struct function_chain {
	uint64_t start; /* lowest address of the range of the function that holds the address */
	struct function_symbol symbol;
	size_t n_levels;
	struct function_level levels[FUNCTION_MAX_DEPTH];
};

/* What goes into a table.  Zero is empty. */
struct function_builder;

/**
 * function_builder_new - begin the table of a function
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller; function_builder_free().
 */
int function_builder_new(struct function_builder **ret_builder);

/** function_builder_reset - forget what is in it, keep its memory */
void function_builder_reset(struct function_builder *builder);

/** function_builder_free - NULL is fine */
void function_builder_free(struct function_builder *builder);

/**
 * function_builder_file - a file of rows and calls
 * @path: copied; the same path again gives the same number
 *
 * Return:  its number; FUNCTION_NO_FILE when memory ran out.
 */
uint32_t function_builder_file(struct function_builder *builder, const char *path);

/**
 * function_builder_node - the function itself (the first node, without parent) or a call inlined
 * @parent: the node that it was inlined into; the first: 0
 * @name: copied
 * @call_file: where it was called, a file's number or FUNCTION_NO_FILE; call_line 0: unknown
 *
 * Return:  its number, 0 for the first; -ENOMEM; -E2BIG: too many.
 */
int function_builder_node(struct function_builder *builder, uint32_t parent, const char *name,
			  uint32_t call_file, uint32_t call_line, uint32_t call_column);

/**
 * function_builder_name - a name of nodes, for callers that use it often
 * @name: copied; the same name again gives the same number
 *
 * Return:  its number; -ENOMEM; -E2BIG.
 */
int function_builder_name(struct function_builder *builder, const char *name);

/**
 * function_builder_named - function_builder_node() by the number of its name
 *
 * Return:  as that; -EINVAL: there is no such name.
 */
int function_builder_named(struct function_builder *builder, uint32_t parent, uint32_t name,
			   uint32_t call_file, uint32_t call_line, uint32_t call_column);

/**
 * function_builder_range - a node has code in [LO, HI)
 *
 * Ranges of a child outside its parent's are used too: where ranges overlap, the deeper node
 * wins, of two as deep the one that begins later (DWARF of some compilers has both).  What is
 * outside the first node's ranges is cut off: it is another function's.  Empty ranges are passed
 * over.
 *
 * Return:  0; -ENOMEM; -E2BIG.
 */
int function_builder_range(struct function_builder *builder, uint32_t node, uint64_t lo,
			   uint64_t hi);

/**
 * function_builder_row - from ADDR to the next row's the code is of that line
 * @line: 0: of none
 *
 * In any order; of several at one address the last added wins.  Rows outside the function's
 * ranges are cut off.
 *
 * Return:  0; -ENOMEM; -E2BIG.
 */
int function_builder_row(struct function_builder *builder, uint64_t addr, uint32_t file,
			 uint32_t line, uint32_t column);

/**
 * function_builder_finish - the table
 *
 * Nodes without code, names and files that nothing in the table has are left out.
 *
 * Return:  0; -ENODATA: the first node has no range; -ERANGE: its ranges are 4 GiB or more apart;
 *          -E2BIG; -ENOMEM.
 * Owns:    the caller, to free() RET_TABLE->bytes.
 */
int function_builder_finish(struct function_builder *builder, struct function_table *ret_table);

/**
 * function_table_check - may these bytes be looked up in?
 *
 * Everything that function_table_find() relies on: sizes, offsets, order, ended strings, nodes
 * whose parents come before them.  Bytes from a file are hostile until then.
 *
 * Return:  0; -EBADMSG.
 * Context: any thread.
 */
int function_table_check(const struct function_table *table);

/**
 * function_table_range - the nth range of the function, in order of addresses
 *
 * Return:  false when there are no more.
 * Context: any thread.
 */
bool function_table_range(const struct function_table *table, size_t nth, uint64_t *ret_lo,
			  uint64_t *ret_hi);

/**
 * function_table_find - the levels at an address
 *
 * Return:  0; -ENOENT: the function has no code there.
 * Owns:    strings are the table's.
 * Context: any thread.
 */
int function_table_find(const struct function_table *table, uint64_t addr,
			struct function_chain *ret_chain);

/*
 * ---- function_show: how a function is shown, kept with its table
 *
 * DWARF does not say it all: a symbol tells a part or a copy from the function (.cold, .part.0),
 * or is all that there is; and names are mangled.  Kept with the table, neither symbol tables nor
 * the demangler are needed the next time.
 */

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
