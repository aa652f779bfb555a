/*
 * ranges.h - the addresses that an entry covers, from .debug_ranges or .debug_rnglists
 */
#ifndef DWARF_RANGES_H
#define DWARF_RANGES_H

#include "symbolize/dwarf/unit.h"

#include <stdint.h>

enum { RANGES_MAX_COUNT = 1024 * 1024 }; /* of a list */

/* What is called for a range [LO, HI), LO < HI.  Other than 0 ends the list. */
typedef int ranges_callback(void *context, uint64_t lo, uint64_t hi);

/**
 * ranges_each - call for every range of a list, in the list's order
 * @value: of DW_AT_ranges: an offset (DWARF 2 to 4 also as a constant) or an index
 *
 * Lists before DWARF 5 are in .debug_ranges, a split unit's from ranges_base on; the others in
 * .debug_rnglists.  Empty ranges, and those whose start is a marker of code that the linker threw
 * away (0, 1 and the two highest addresses), are passed over.
 *
 * Return:  0; what the callback returned; -EBADMSG: the list is invalid (after some calls).
 * Context: any thread.
 */
int ranges_each(const struct dwarf_unit *unit, const struct form_value *value,
		ranges_callback *callback, void *context);

/**
 * ranges_each_of - the same, of many lists that together may have only so many entries
 * @left: entries that may still be read, counted down; at 0 the list is refused
 *
 * A file of a megabyte can lead from each of ten thousand entries to the same long list.
 *
 * Context: any thread.
 */
int ranges_each_of(const struct dwarf_unit *unit, const struct form_value *value, uint64_t *left,
		   ranges_callback *callback, void *context);

#endif
