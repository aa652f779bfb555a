/* fuzz_elf_symbols.c - symbol tables, stubs, bounds and a file within the file, all of lies */
#include "symbolize/elf/elf_symbols.h"
#include "symbolize/elf/fde.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1024 * 1024 };

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static volatile size_t sink;

static void look_up(struct symbol_table *table, uint64_t addr)
{
	const struct symbol *symbol = symbol_table_find(table, addr);

	if (symbol)
		sink += strlen(symbol_table_name(table, symbol));
	symbol = symbol_table_find_latest(table, addr);
	if (symbol)
		sink += strlen(symbol_table_name(table, symbol));
}

static void read_symbols(Elf *elf, const struct fde_table *fdes, struct symbol_table *table)
{
	(void)elf_symbols_read(elf, ELF_SYMTAB | ELF_DYNSYM, fdes, table);
	symbol_table_finish(table);
	(void)elf_plt_read(elf, table);
	(void)elf_minidebug_read(elf, fdes, table);
	symbol_table_finish(table);
	for (uint64_t addr = 0; addr < 0x8000; addr += 0x11)
		look_up(table, addr);
	look_up(table, UINT64_MAX);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct symbol_table table = {0};
	struct fde_table fdes = {0};
	char *bytes;
	Elf *elf;

	if (size > MAX_BYTES)
		return 0;
	/* libelf wants bytes that may be written. */
	bytes = malloc(size + 1);
	if (!bytes)
		return 0;
	memcpy(bytes, data, size);
	(void)elf_version(EV_CURRENT);
	elf = elf_memory(bytes, size);
	if (elf) {
		(void)fde_table_read(elf, &fdes);
		read_symbols(elf, &fdes, &table);
		symbol_table_release(&table);
		fde_table_release(&fdes);
		(void)elf_end(elf);
	}
	free(bytes);
	return 0;
}
