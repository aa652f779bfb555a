/*
 * directory.h - which units an address may belong to
 *
 * From .debug_aranges; units that it does not list, or all when an address is not in it, by
 * DW_AT_ranges or low_pc and high_pc of their root; those with neither by their line sequences.
 *
 * Context: any thread, unless a function says otherwise.
 */
#ifndef DWARF_DIRECTORY_H
#define DWARF_DIRECTORY_H

#include "symbolize/dwarf/unit.h"
#include "symbolize/elf/elf_head.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct directory;

/**
 * directory_new - nothing is read before the first directory_find()
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller; directory_free().  SOURCE and HEAD outlive it.
 */
int directory_new(const struct dwarf_source *source, const struct elf_head *head,
		  struct directory **ret_directory);

/** directory_free - NULL is fine */
void directory_free(struct directory *directory);

/**
 * directory_find - the NTH unit that may hold ADDR, the narrowest range first
 *
 * Return:  false: there are no more.
 * Context: any thread; its own lock guards what is made on first use.
 */
bool directory_find(struct directory *directory, uint64_t addr, size_t nth, uint64_t *ret_offset);

#endif
