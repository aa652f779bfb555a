/*
 * elf_symbols.h - the functions that an ELF file's symbol tables name
 *
 * Context: any thread (one at a time for one ELF), unless a function says otherwise.
 */
#ifndef ELF_ELF_SYMBOLS_H
#define ELF_ELF_SYMBOLS_H

#include "symbolize/elf/fde.h"
#include "symbolize/elf/symbol_table.h"

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

/* Which tables to read, and which were there; what a file contains. */
enum elf_symbols {
	ELF_SYMTAB = 1,
	ELF_DYNSYM = 2,
	ELF_DWARF = 4,
};

/**
 * elf_symbols_read - add the functions of .symtab and .dynsym
 * @which: enum elf_symbols, or-ed
 * @fdes: bounds of symbols without a size; NULL: they end with their section in .symtab, and
 *        name only their own address in .dynsym
 *
 * Names lose their @VERSION; local ones of .symtab have the file that was compiled.  Two files
 * with the same symbols in another order give the same names.  The table is not finished.
 *
 * Return:  the tables that gave at least one symbol, or-ed; -EFBIG or -ENOMEM.
 */
int elf_symbols_read(Elf *elf, int which, const struct fde_table *fdes, struct symbol_table *table);

/**
 * elf_minidebug_read - add the functions of .gnu_debugdata, when there is one
 *
 * Some distributions keep a .symtab of what .dynsym lacks there, compressed: for files that have
 * no .symtab.  The table is not finished.
 *
 * Return:  ELF_SYMTAB: it gave at least one symbol; 0: it has none; -EBADMSG: it does not
 *          decompress, or to too much; -EFBIG or -ENOMEM.
 */
int elf_minidebug_read(Elf *elf, const struct fde_table *fdes, struct symbol_table *table);

/**
 * elf_plt_read - add NAME@plt for the stubs of .plt, .plt.sec and .plt.got
 * @table: holds the file's symbols and is finished: names the targets of IRELATIVE stubs
 *
 * Return:  how many were added; the table is not finished then; -EFBIG or -ENOMEM.
 */
int elf_plt_read(Elf *elf, struct symbol_table *table);

/**
 * elf_symbol_rank - of two symbols at one address the higher one names it
 * @info: st_info
 *
 * Global before weak before local, functions before what has no type, few leading underscores.
 *
 * Context: any thread.
 */
uint32_t elf_symbol_rank(unsigned char info, const char *name);

/**
 * elf_contents - does a file have a .symtab, and does it have .debug_info?
 *
 * Return:  ELF_SYMTAB and ELF_DWARF, or-ed.
 */
int elf_contents(Elf *elf);

/**
 * elf_section_data - the content of a section, when it is no more than BYTES
 *
 * Return:  its content, NULL if there is none or it is too large.
 * Owns:    the ELF.
 */
const Elf_Data *elf_section_data(Elf_Scn *section, uint64_t bytes);

/**
 * elf_section_named - the first section of that name
 *
 * Return:  it, and its header; NULL.
 * Owns:    the ELF.
 */
Elf_Scn *elf_section_named(Elf *elf, const char *name, GElf_Shdr *ret_header);

#endif
