/*
 * line_header.h - the head of a line program (6.2.4): how to run it, and its folders and files
 *
 * Context: any thread, unless a function says otherwise.
 */
#ifndef DWARF_LINE_HEADER_H
#define DWARF_LINE_HEADER_H

#include "symbolize/bounds/cursor.h"
#include "symbolize/dwarf/unit.h"

#include <stdbool.h>
#include <stdint.h>

enum { LINE_PATH_MAX = 16 * 1024 }; /* of a folder or a name; what is longer is no path */

struct line_files;

struct line_header {
	struct dwarf_format format; /* the program's own, not the unit's */
	uint8_t min_instruction;
	uint8_t max_operations; /* of an instruction, 1 but for VLIW */
	bool default_is_stmt;
	int8_t line_base;
	uint8_t line_range;
	uint8_t opcode_base;
	const uint8_t *lengths; /* operands of the standard opcodes 1 to opcode_base - 1 */
	struct cursor program;
};

/**
 * line_header_read - of the program at UNIT's stmt_list
 * @ret_files: NULL: files are not needed
 *
 * Return:  0; -ENODATA: the unit has none; -EBADMSG; -ENOMEM.
 * Owns:    the caller, RET_FILES; line_files_free().  Bytes are the unit's source's.
 */
int line_header_read(const struct dwarf_unit *unit, struct line_header *ret_header,
		     struct line_files **ret_files);

/**
 * line_files_add - a file that the program itself defines (DW_LNE_define_file)
 *
 * Return:  0; -ENOMEM.
 * Owns:    NAME outlives the files.
 * Context: any thread, one at a time for one set of files.
 */
int line_files_add(struct line_files *files, const char *name, uint64_t folder);

/** line_files_count - file numbers are below it */
size_t line_files_count(const struct line_files *files);

/**
 * line_files_path - see line_table_file()
 *
 * Owns:    the files.
 * Context: any thread, one at a time for one set of files.
 */
const char *line_files_path(struct line_files *files, uint64_t file);

/** line_files_free - NULL is fine */
void line_files_free(struct line_files *files);

#endif
