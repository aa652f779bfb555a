/* elf_symbols.c - .symtab and .dynsym through libelf */
#include "symbolize/elf/elf_symbols.h"

#include "symbolize/bounds/loader.h"
#include "symbolize/bounds/memory_limit.h"

#include <errno.h>
#include <string.h>

static const uint64_t MAX_SECTION_BYTES = 1024 * 1024 * 1024;

/* Names may share their bytes: all together are so many times the strings at most, and some more.
 */
enum { SHARED_NAMES = 4, MORE_NAME_BYTES = 16 * 1024 * 1024 };

/* One table being read. */
struct reader {
	Elf *elf;
	const Elf_Data *strings;
	const struct fde_table *fdes; /* NULL: none */
	struct symbol_table *table;
	uint64_t name_bytes; /* that names may take yet */
	const char *file;    /* that the local symbols to come were compiled from */
	int which;
	int n_added;
};

const Elf_Data *elf_section_data(Elf_Scn *section, uint64_t bytes)
{
	struct memory_claim claim = {.use = MEMORY_FILES};
	GElf_Shdr header;
	const Elf_Data *data;

	if (!section || !gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
	    header.sh_size > bytes || memory_claim(&claim, header.sh_size) < 0)
		return NULL;
	/* ELF, which owns it, is closed soon: it is enough that there is memory now. */
	(void)memory_claim(&claim, 0);
	data = elf_getdata(section, NULL);
	if (!data || !data->d_buf || data->d_size == 0)
		return NULL;
	return data;
}

Elf_Scn *elf_section_named(Elf *elf, const char *name, GElf_Shdr *ret_header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *its = gelf_getshdr(section, ret_header)
					  ? elf_strptr(elf, names, ret_header->sh_name)
					  : NULL;

		if (its && strcmp(its, name) == 0)
			return section;
	}
	return NULL;
}

int elf_contents(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int contents = 0;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return 0;
	while ((section = elf_nextscn(elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
		    !header.sh_size)
			continue;
		if (header.sh_type == SHT_SYMTAB)
			contents |= ELF_SYMTAB;
		name = elf_strptr(elf, names, header.sh_name);
		if (name && (strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0))
			contents |= ELF_DWARF;
	}
	return contents;
}

/* A string inside the table, or NULL. */
static const char *string_at(const Elf_Data *strings, uint64_t offset)
{
	const char *start = (const char *)strings->d_buf;

	if (offset >= strings->d_size ||
	    !memchr(start + offset, '\0', strings->d_size - (size_t)offset))
		return NULL;
	return start + offset;
}

/* Marks that assemblers and tools leave in the code; they start no function. */
static bool is_mark(const char *name)
{
	return name[0] == '\0' || name[0] == '$' || strncmp(name, ".L", 2) == 0 ||
	       strncmp(name, ".annobin", 8) == 0;
}

uint32_t elf_symbol_rank(unsigned char info, const char *name)
{
	unsigned bind = ELF64_ST_BIND(info);
	uint32_t rank = bind == STB_LOCAL ? 0 : bind == STB_WEAK ? 1 : 2;
	size_t underscores = strspn(name, "_");

	rank = rank * 2 + (ELF64_ST_TYPE(info) != STT_NOTYPE);
	return rank * 8 + (uint32_t)(underscores < 7 ? 7 - underscores : 0);
}

/* The end of a symbol without a size. */
static uint64_t limit_of(const struct reader *reader, const GElf_Sym *symbol,
			 const GElf_Shdr *section)
{
	uint64_t section_end = section->sh_addr + section->sh_size;
	uint64_t end = reader->fdes ? fde_end(reader->fdes, symbol->st_value) : 0;

	if (end > symbol->st_value)
		return end < section_end ? end : section_end;
	/* Those that are not exported are not in .dynsym: the next symbol may be far away. */
	if (reader->which == ELF_DYNSYM)
		return symbol->st_value + 1;
	end = reader->fdes ? fde_limit(reader->fdes, symbol->st_value) : 0;
	return end > symbol->st_value && end < section_end ? end : section_end;
}

/* A size that reaches out of the section is wrong, or comes from a linker script. */
static uint64_t size_of(const GElf_Sym *symbol, const GElf_Shdr *section)
{
	uint64_t room = section->sh_size - (symbol->st_value - section->sh_addr);

	return symbol->st_size < room ? symbol->st_size : room;
}

/* Its local symbols follow.  Those of link-time optimisation are of no file of the user's. */
static void note_file(struct reader *reader, const GElf_Sym *symbol)
{
	const char *name = string_at(reader->strings, symbol->st_name);

	reader->file =
		name && *name && *name != '<' && strcmp(name, "ld-temp.o") != 0 ? name : NULL;
}

static int add_symbol(struct reader *reader, const GElf_Sym *symbol)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);
	struct symbol_entry entry;
	GElf_Shdr section;
	const char *name;
	int r;

	if (type == STT_FILE)
		note_file(reader, symbol);
	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return 0;
	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE)
		return 0;
	if (!gelf_getshdr(elf_getscn(reader->elf, symbol->st_shndx), &section) ||
	    !(section.sh_flags & SHF_EXECINSTR) || symbol->st_value < section.sh_addr ||
	    symbol->st_value - section.sh_addr >= section.sh_size)
		return 0;
	name = string_at(reader->strings, symbol->st_name);
	if (!name || is_mark(name) || strlen(name) > reader->name_bytes)
		return 0;
	reader->name_bytes -= strlen(name);
	entry = (struct symbol_entry){
		.addr = symbol->st_value,
		.size = size_of(symbol, &section),
		.rank = elf_symbol_rank(symbol->st_info, name),
		.name = name,
		.name_len = strcspn(name, "@"),
		.file = GELF_ST_BIND(symbol->st_info) == STB_LOCAL ? reader->file : NULL,
	};
	if (!entry.size)
		entry.limit = limit_of(reader, symbol, &section);
	r = symbol_table_add(reader->table, &entry);
	reader->n_added += r == 0;
	return r;
}

static int read_section(struct reader *reader, Elf_Scn *section, const GElf_Shdr *header)
{
	const Elf_Data *data = elf_section_data(section, MAX_SECTION_BYTES);
	GElf_Sym symbol;

	reader->strings =
		elf_section_data(elf_getscn(reader->elf, header->sh_link), MAX_SECTION_BYTES);
	if (!data || !reader->strings)
		return 0;
	reader->name_bytes = MORE_NAME_BYTES + SHARED_NAMES * reader->strings->d_size;
	for (size_t i = 0; i < data->d_size / sizeof(Elf64_Sym) && i < INT32_MAX; i++) {
		int r;

		if (loader_is_stopping())
			return -ECANCELED;
		if (!gelf_getsym((Elf_Data *)data, (int)i, &symbol))
			return 0;
		r = add_symbol(reader, &symbol);
		if (r < 0)
			return r;
	}
	return 0;
}

int elf_symbols_read(Elf *elf, int which, const struct fde_table *fdes, struct symbol_table *table)
{
	struct reader reader = {.elf = elf, .fdes = fdes, .table = table};
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int found = 0;

	while ((section = elf_nextscn(elf, section))) {
		int r;

		if (!gelf_getshdr(section, &header))
			continue;
		reader.which = header.sh_type == SHT_SYMTAB   ? ELF_SYMTAB
			       : header.sh_type == SHT_DYNSYM ? ELF_DYNSYM
							      : 0;
		if (!(reader.which & which))
			continue;
		which &= ~reader.which; /* there is one of each (ELF-64, "Section Types") */
		reader.n_added = 0;
		reader.file = NULL;
		r = read_section(&reader, section, &header);
		if (r < 0)
			return r;
		if (reader.n_added)
			found |= reader.which;
	}
	return found;
}
