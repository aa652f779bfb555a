/*
 * lines.h - the line program of a unit, run once: rows by address
 *
 * Context: any thread, unless a function says otherwise.
 */
#ifndef DWARF_LINES_H
#define DWARF_LINES_H

#include "symbolize/dwarf/unit.h"
#include "symbolize/elf/elf_head.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From its address to the next row's the code is of that line.  Line 0: of none; every sequence
 * ends in such a row. */
struct line_row {
	uint64_t addr;
	uint32_t file; /* as line_table_file() takes it */
	uint32_t line;
	uint32_t column;
	bool is_stmt; /* a debugger would stop here */
	bool ends;    /* the sequence: what follows is of no line of this unit */
};

/* Zero is empty. */
struct line_table {
	struct line_row *rows; /* by address; of several at one address only the last is left */
	size_t n_rows;
	struct line_files *files;
};

/**
 * lines_read - run the program at UNIT's stmt_list
 * @head: sequences that begin outside its executable segments (or at 0) are dropped
 *
 * Return:  0; -ENODATA: the unit has none; -EBADMSG; -E2BIG; -ENOMEM.
 * Owns:    the caller; line_table_release().
 */
int lines_read(const struct dwarf_unit *unit, const struct elf_head *head,
	       struct line_table *ret_table);

/**
 * line_table_find - the row that an address is in
 *
 * Return:  its index; n_rows: it is before the first row.
 */
size_t line_table_find(const struct line_table *table, uint64_t addr);

/** line_table_n_files - file numbers are below it */
size_t line_table_n_files(const struct line_table *table);

/**
 * line_table_file - the path of a file, absolute where the program and DW_AT_comp_dir tell
 * @file: of a row, DW_AT_call_file or DW_AT_decl_file (DWARF 5 counts from 0, others from 1)
 *
 * Return:  the path; "": there is no such file.
 * Owns:    the table; made on first use.
 * Context: any thread, one at a time for one table.
 */
const char *line_table_file(struct line_table *table, uint64_t file);

/** line_table_release - give back the memory; an empty one is fine */
void line_table_release(struct line_table *table);

#endif
