/*
 * file.h - what is known of a module's debugging information, shared by all its readers
 */
#ifndef DWARF_FILE_H
#define DWARF_FILE_H

#include "symbolize/dwarf/dwarf.h"
#include "symbolize/dwarf/unit.h"
#include "symbolize/sections/sections.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the units of a source begin, for references from one to another. */
struct unit_list {
	uint64_t *offsets; /* ascending */
	size_t n_offsets;
	bool made;
};

struct dwarf_file {
	struct dwarf_sections sections;
	struct dwarf_sections alt_sections;
	struct dwarf_source source;
	struct dwarf_source alt; /* of[] empty: there is none */
	const struct elf_head *head;
	struct directory *directory;
	struct split *split;
	struct dwarf_fallback *fallback;
	pthread_mutex_t lock; /* of the lists */
	struct unit_list units;
	struct unit_list alt_units;
};

/**
 * dwarf_file_unit_around - the unit that holds an offset of the file's or the alternate file's
 *                          .debug_info
 *
 * Return:  0; -ENOENT: none does, or the source is a split unit's; -ENOMEM.
 * Context: any thread.
 */
int dwarf_file_unit_around(struct dwarf_file *file, const struct dwarf_source *source,
			   uint64_t offset, uint64_t *ret_unit);

/**
 * dwarf_file_drop - the pages of a unit's entries are not needed for now
 *
 * They come back from the file when they are read again.  What is not mapped from a file stays.
 *
 * Context: any thread.
 */
void dwarf_file_drop(const struct dwarf_file *file, const struct dwarf_unit *unit);

#endif
