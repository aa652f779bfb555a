/* dwarf_functions.c - subprograms of all units, through libdw */
#include "symbolize/dwarf_functions.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <string.h>

/* Ranges of one function, and bytes of all debugging sections, that are taken in. */
enum { MAX_RANGES = 1024 };
static const uint64_t MAX_DEBUG_BYTES = 1024 * 1024 * 1024;

struct reader {
	const struct elf_head *head;
	struct symbol_table *table;
	int failed;
};

/* The mangled name where there is one, as symbol tables have it. */
static const char *name_of(Dwarf_Die *function)
{
	Dwarf_Attribute attr;
	const char *name = NULL;

	if (dwarf_attr_integrate(function, DW_AT_linkage_name, &attr) ||
	    dwarf_attr_integrate(function, DW_AT_MIPS_linkage_name, &attr))
		name = dwarf_formstring(&attr);
	if (!name && dwarf_attr_integrate(function, DW_AT_name, &attr))
		name = dwarf_formstring(&attr);
	return name;
}

static int add_function(Dwarf_Die *function, void *context)
{
	struct reader *reader = (struct reader *)context;
	const char *name = name_of(function);
	Dwarf_Addr base;
	Dwarf_Addr start;
	Dwarf_Addr end;
	ptrdiff_t at = 0;

	if (!name)
		return DWARF_CB_OK;
	for (int i = 0; i < MAX_RANGES; i++) {
		struct symbol_entry entry;

		at = dwarf_ranges(function, at, &base, &start, &end);
		if (at <= 0)
			break;
		if (end <= start || !elf_head_executable(reader->head, start) ||
		    !elf_head_executable(reader->head, end - 1))
			continue;
		entry = (struct symbol_entry){
			.addr = start, .size = end - start, .name = name, .name_len = strlen(name)};
		reader->failed = symbol_table_add(reader->table, &entry);
		if (reader->failed)
			return DWARF_CB_ABORT;
	}
	return DWARF_CB_OK;
}

/* libdw takes in whole sections: refuse what would not fit. */
static bool fits(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Chdr compressed;
	uint64_t bytes = 0;

	while ((section = elf_nextscn(elf, section))) {
		uint64_t size;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
		    (header.sh_flags & SHF_ALLOC))
			continue;
		size = header.sh_size;
		if ((header.sh_flags & SHF_COMPRESSED) && gelf_getchdr(section, &compressed))
			size = compressed.ch_size;
		if (size > MAX_DEBUG_BYTES - bytes)
			return false;
		bytes += size;
	}
	return true;
}

int dwarf_functions_read(Elf *elf, const struct elf_head *head, struct symbol_table *table)
{
	struct reader reader = {.head = head, .table = table};
	Dwarf *dwarf = fits(elf) ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
	Dwarf_Off offset = 0;
	Dwarf_Off next;
	size_t header_size;

	if (!dwarf)
		return -ENODATA;
	while (!reader.failed &&
	       dwarf_nextcu(dwarf, offset, &next, &header_size, NULL, NULL, NULL) == 0) {
		Dwarf_Die unit;

		if (dwarf_offdie(dwarf, offset + header_size, &unit))
			(void)dwarf_getfuncs(&unit, add_function, &reader, 0);
		if (next <= offset)
			break;
		offset = next;
	}
	(void)dwarf_end(dwarf);
	return reader.failed;
}
