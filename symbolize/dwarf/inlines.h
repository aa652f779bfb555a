/*
 * inlines.h - a function's entry read into a table: its ranges, what was inlined into it, lines
 *
 * Context: any thread, one at a time.
 */
#ifndef DWARF_INLINES_H
#define DWARF_INLINES_H

#include "symbolize/dwarf/lines.h"
#include "symbolize/dwarf/name.h"
#include "symbolize/dwarf/unit_cache.h"
#include "symbolize/function/function_table.h"

#include <stddef.h>
#include <stdint.h>

/* A file of the line table that the builder knows already, of this round. */
struct file_number {
	uint32_t round;
	uint32_t number;
};

enum { INLINES_MAX_RANGES = 1024 * 1024 }; /* of a function and all that is in it */

struct code_range {
	uint64_t lo;
	uint64_t hi;
};

/* What a function is read with; kept from one to the next. */
struct function_reading {
	struct unit_cache *units;
	struct name_memo *names;
	struct function_builder *builder;
	struct loaded_unit *unit;
	struct line_table *lines; /* of the unit */

	struct file_number *files; /* by the line table's number */
	size_t n_files;
	uint32_t round;
	struct code_range *ranges; /* of the function */
	size_t n_ranges;
	size_t size_ranges;
};

/**
 * inlines_read - the table of the function whose entry is at DIE
 *
 * Return:  0; -EBADMSG: the unit's entries are invalid; -ENOENT: the function has no code; -ENOMEM.
 * Owns:    the caller, to free() RET_TABLE->bytes.
 */
int inlines_read(struct function_reading *reading, uint64_t die, struct function_table *ret_table);

/**
 * inlines_only_lines - a table without a name for [LO, HI), of which only lines are known
 *
 * Return:  0; -ENOENT; -ENOMEM.
 * Owns:    the caller, to free() RET_TABLE->bytes.
 */
int inlines_only_lines(struct function_reading *reading, uint64_t lo, uint64_t hi,
		       struct function_table *ret_table);

/** inlines_release - give back the scratch memory */
void inlines_release(struct function_reading *reading);

#endif
