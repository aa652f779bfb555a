/*
 * package.h - where a .dwp has the sections of one unit (7.3.5; GNU's version 2 before DWARF 5)
 */
#ifndef SECTIONS_PACKAGE_H
#define SECTIONS_PACKAGE_H

#include "symbolize/sections/sections.h"

#include <stdint.h>

/**
 * package_find - a unit's slices of the package's sections, by its id
 * @of: of N_DWARF_SECTIONS: what is not sliced (.debug_str) is whole
 *
 * Return:  0; -ENOENT: the unit is not in it; -EBADMSG: the index lies.
 * Owns:    the sections, the bytes.
 * Context: any thread.
 */
int package_find(const struct dwarf_sections *sections, uint64_t dwo_id, struct dwarf_bytes *of);

#endif
