/*
 * dwarf.h - from an address to the function's table, through .debug_info and .debug_line
 *
 * A dwarf_file is what is known of one module: read-only once it is open, but for parts that are
 * made on first use under its lock.  A dwarf_reader is one thread's: abbreviations, the unit at
 * hand, scratch memory; freeing it frees all that.  (DWARF 5: dwarfstd.org; section numbers in
 * comments are of that document.)
 */
#ifndef DWARF_DWARF_H
#define DWARF_DWARF_H

#include "symbolize/elf/elf_head.h"
#include "symbolize/function/function_table.h"
#include "symbolize/sections/sections.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_file;
struct dwarf_reader;

/* How to get at files beside the one that was opened.  Descriptors become the file's. */
struct dwarf_finder {
	void *context;
	/* The alternate file of dwz -m: NAME and BUILD_ID as .gnu_debugaltlink has them.
	 * Return: a descriptor; -errno. */
	int (*open_alt)(void *context, const char *name, const uint8_t *build_id, size_t len);
	/* A split unit's file, DW_AT_dwo_name in DW_AT_comp_dir; or MODULE.dwp, with name NULL.
	 * NTH: the next one is requested when that one has another unit.
	 * Return: a descriptor; -errno. */
	int (*open_dwo)(void *context, const char *comp_dir, const char *name, size_t nth);
};

struct dwarf_options {
	const struct elf_head *head;       /* of the module: code outside its executable segments is
					      what the linker threw away; outlives the file */
	const struct dwarf_finder *finder; /* NULL: there are no others; outlives the file */
};

/**
 * dwarf_file_new - take sections over
 * @sections: moved, also on failure
 *
 * Return:  0; -ENODATA: nothing to read names or lines from; -ENOMEM.
 * Owns:    the caller; dwarf_file_free().
 * Context: any thread.
 */
int dwarf_file_new(struct dwarf_sections *sections, const struct dwarf_options *options,
		   struct dwarf_file **ret_file);

/**
 * dwarf_file_free - close everything; NULL is fine
 *
 * Context: any thread.  No reader of it is left.
 */
void dwarf_file_free(struct dwarf_file *file);

/**
 * dwarf_reader_new - for one thread
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller; dwarf_reader_free(), before the file.
 * Context: any thread.
 */
int dwarf_reader_new(struct dwarf_file *file, struct dwarf_reader **ret_reader);

/**
 * dwarf_reader_free - NULL is fine
 *
 * Context: any thread, one at a time.
 */
void dwarf_reader_free(struct dwarf_reader *reader);

/**
 * dwarf_unit_of - which unit an address belongs to, to group addresses by
 *
 * Return:  a number that identifies the unit, 1 or more; 0: none is known to hold it.
 * Context: any thread.
 */
uint64_t dwarf_unit_of(struct dwarf_file *file, uint64_t addr);

/**
 * dwarf_read_function - the table of the function that an address is in
 * @addr: the ELF's own (virtual) address
 *
 * Addresses in ascending order are cheapest: the unit of the last one is kept.  A unit that
 * cannot be read is refused, and its addresses have no function: the others are not hurt.
 *
 * Where DWARF has lines but no function there, the table has one node without a name.
 *
 * Return:  0; -ENOENT: nothing is known of the address; -EBADMSG: its unit is refused, by libdw
 *          too; -ENOMEM.
 * Owns:    the caller, to free() RET_TABLE->bytes.
 * Context: any thread, one at a time.
 */
int dwarf_read_function(struct dwarf_reader *reader, uint64_t addr,
			struct function_table *ret_table);

#endif
