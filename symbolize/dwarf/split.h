/*
 * split.h - the files beside the module: the alternate file of dwz -m, .dwo files and the .dwp
 *
 * Context: any thread, unless a function says otherwise.
 */
#ifndef DWARF_SPLIT_H
#define DWARF_SPLIT_H

#include "symbolize/dwarf/dwarf.h"
#include "symbolize/dwarf/unit.h"
#include "symbolize/sections/sections.h"

#include <stdint.h>

struct split;

/**
 * split_open_alt - the alternate file that .gnu_debugaltlink or .debug_sup (7.3.6) names
 *
 * Return:  0; -ENOENT: none is named; -errno: it is not to be had.
 * Owns:    the caller; dwarf_sections_close().
 */
int split_open_alt(const struct dwarf_sections *sections, const struct dwarf_finder *finder,
		   struct dwarf_sections *ret_alt);

/**
 * split_new - no file is opened before the first split_find()
 * @source: the module's; outlives it, as does the finder (NULL: nothing is ever found)
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller; split_free().
 */
int split_new(const struct dwarf_source *source, const struct dwarf_finder *finder,
	      struct split **ret_split);

/** split_free - closes everything that was opened; NULL is fine */
void split_free(struct split *split);

/**
 * split_find - the split unit that belongs to a skeleton, by its dwo_id
 *
 * In the module's .dwp, else in the .dwo that it names.  What could not be opened once is not
 * tried again.
 *
 * Return:  0; -ENOENT: it is not to be had; -ENOMEM.
 * Owns:    the split, the source and its bytes.
 * Context: any thread; its own lock guards the files.
 */
int split_find(struct split *split, const struct dwarf_unit *skeleton,
	       const struct dwarf_source **ret_source, uint64_t *ret_offset);

/**
 * split_package_find - a unit's slices of a .dwp's sections, by its id (7.3.5)
 * @of: of N_DWARF_SECTIONS: what is not sliced (.debug_str) is whole
 *
 * Return:  0; -ENOENT: the unit is not in it; -EBADMSG: the index is wrong.
 * Owns:    the sections, the bytes.
 */
int split_package_find(const struct dwarf_sections *sections, uint64_t dwo_id,
		       struct dwarf_bytes *of);

#endif
