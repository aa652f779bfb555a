/*
 * dwarf_fallback.h - a function's table through libdw, for a unit that ours refuses
 *
 * A hundred times slower, and names that have no linkage name are not qualified; but libdw
 * forgives what ours does not.  It is given only what is bounded: sections that would grow too
 * much are refused, entries are counted, and none of its calls that recurse is used.
 *
 * Context: any thread, unless a function says otherwise.
 */
#ifndef SECTIONS_DWARF_FALLBACK_H
#define SECTIONS_DWARF_FALLBACK_H

#include "symbolize/function/function_table.h"
#include "symbolize/sections/sections.h"

#include <stdint.h>

struct dwarf_fallback;

/**
 * dwarf_fallback_new - nothing is read before the first dwarf_fallback_read()
 * @sections: of the module's own file; they outlive the fallback
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller; dwarf_fallback_free().
 */
int dwarf_fallback_new(const struct dwarf_sections *sections, struct dwarf_fallback **ret_fallback);

/** dwarf_fallback_free - NULL is fine */
void dwarf_fallback_free(struct dwarf_fallback *fallback);

/**
 * dwarf_fallback_read - the table of the function that an address is in
 *
 * Return:  0; -ENOENT: libdw knows of none either; -EBADMSG: it cannot read the file; -E2BIG;
 *          -ENOMEM.
 * Owns:    the caller, to free() RET_TABLE->bytes.
 * Context: any thread; its own lock, as libdw has none.
 */
int dwarf_fallback_read(struct dwarf_fallback *fallback, uint64_t addr,
			struct function_table *ret_table);

#endif
