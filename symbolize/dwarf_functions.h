/* dwarf_functions.h - the functions that debugging information names */
#ifndef SYMBOLIZE_DWARF_FUNCTIONS_H
#define SYMBOLIZE_DWARF_FUNCTIONS_H

#include "symbolize/elf_head.h"
#include "symbolize/symbol_table.h"

#include <libelf.h>

/**
 * dwarf_functions_read - add every function that has code
 * @head: of the module: ranges outside its executable segments are remains of code that the
 *        linker threw away
 *
 * A unit that cannot be read is passed over.  The table is not finished.
 *
 * Return:  0; -ENODATA: no DWARF that libdw reads; -EFBIG or -ENOMEM.
 * Context: any thread.  One at a time for one ELF.
 */
int dwarf_functions_read(Elf *elf, const struct elf_head *head, struct symbol_table *table);

#endif
