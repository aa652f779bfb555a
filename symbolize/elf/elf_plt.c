/* elf_plt.c - names for the stubs that jump to other modules (x86-64) */
#include "symbolize/elf/elf_symbols.h"

#include "base/array.h"

#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of relocations, and of stubs: many sections can be of the same bytes. */
static const uint64_t MAX_BYTES = 64 * 1024 * 1024;

enum { MAX_SLOTS = 1024 * 1024 };

/* A GOT slot and what the loader will put there. */
struct slot {
	uint64_t addr;
	const char *name;
};

struct slots {
	struct slot *slots; /* by address */
	size_t n_slots;
	size_t n_room;
};

static int add_slot(struct slots *slots, uint64_t addr, const char *name)
{
	if (slots->n_slots >= MAX_SLOTS)
		return -EFBIG;
	if (array_reserve(&slots->slots, slots->n_slots, &slots->n_room, 256) < 0)
		return -ENOMEM;
	slots->slots[slots->n_slots++] = (struct slot){.addr = addr, .name = name};
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct slot *a = left;
	const struct slot *b = right;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/* The symbol a relocation is for: in the linked symbol table, or at its addend. */
static const char *target_of(Elf *elf, const GElf_Shdr *relocs, const GElf_Rela *rela,
			     const struct symbol_table *table)
{
	Elf_Scn *symbols = elf_getscn(elf, relocs->sh_link);
	const Elf_Data *data;
	GElf_Shdr header;
	GElf_Sym symbol;

	if (GELF_R_TYPE(rela->r_info) == R_X86_64_IRELATIVE) {
		const struct symbol *found = symbol_table_find(table, (uint64_t)rela->r_addend);

		return found ? symbol_table_name(table, found) : NULL;
	}
	if (GELF_R_TYPE(rela->r_info) != R_X86_64_JUMP_SLOT &&
	    GELF_R_TYPE(rela->r_info) != R_X86_64_GLOB_DAT)
		return NULL;
	data = elf_section_data(symbols, MAX_BYTES);
	if (!data || !gelf_getshdr(symbols, &header) ||
	    GELF_R_SYM(rela->r_info) >= data->d_size / sizeof(Elf64_Sym) ||
	    !gelf_getsym((Elf_Data *)data, (int)GELF_R_SYM(rela->r_info), &symbol))
		return NULL;
	return elf_strptr(elf, header.sh_link, symbol.st_name);
}

static int read_slots(Elf *elf, const struct symbol_table *table, struct slots *slots)
{
	uint64_t left = MAX_BYTES;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Rela rela;

	while ((section = elf_nextscn(elf, section))) {
		const Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA ||
		    !(header.sh_flags & SHF_ALLOC))
			continue;
		data = elf_section_data(section, left);
		left -= data ? data->d_size : 0;
		for (size_t i = 0; data && i < data->d_size / sizeof(Elf64_Rela); i++) {
			const char *name = NULL;
			int r;

			if (gelf_getrela((Elf_Data *)data, (int)i, &rela))
				name = target_of(elf, &header, &rela, table);
			if (!name || !*name)
				continue;
			r = add_slot(slots, rela.r_offset, name);
			if (r < 0)
				return r;
		}
	}
	if (slots->n_slots)
		qsort(slots->slots, slots->n_slots, sizeof(*slots->slots), compare);
	return 0;
}

/* `[endbr64] [bnd] jmp *SLOT(%rip)` within one stub: the slot's address, 0 if it is not one. */
static uint64_t slot_of(const uint8_t *stub, size_t len, uint64_t addr)
{
	static const uint8_t ENDBR64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	int32_t distance;
	size_t at = 0;

	if (len >= sizeof(ENDBR64) && memcmp(stub, ENDBR64, sizeof(ENDBR64)) == 0)
		at = sizeof(ENDBR64);
	if (at < len && stub[at] == 0xf2)
		at++;
	if (at + 6 > len || stub[at] != 0xff || stub[at + 1] != 0x25)
		return 0;
	memcpy(&distance, stub + at + 2, sizeof(distance));
	return addr + at + 6 + (uint64_t)(int64_t)distance;
}

static int add_stub(struct symbol_table *table, uint64_t addr, uint64_t size, const char *target)
{
	struct symbol_entry entry = {.addr = addr, .size = size};
	char name[4096];
	int len = snprintf(name, sizeof(name), "%.*s@plt", (int)strcspn(target, "@"), target);

	if (len < 0 || (size_t)len >= sizeof(name))
		return 0;
	entry.name = name;
	entry.name_len = (size_t)len;
	return symbol_table_add(table, &entry);
}

static int read_stubs(const Elf_Data *data, const GElf_Shdr *header, const struct slots *slots,
		      struct symbol_table *table)
{
	/* Static programs have short stubs, and only the alignment tells. */
	bool is_short =
		header->sh_entsize == 8 || (header->sh_entsize != 16 && header->sh_addralign == 8);
	size_t step = is_short ? 8 : 16;
	int n_added = 0;

	for (size_t at = 0; at + step <= data->d_size; at += step) {
		struct slot wanted = {.addr = slot_of((const uint8_t *)data->d_buf + at, step,
						      header->sh_addr + at)};
		const struct slot *slot =
			bsearch(&wanted, slots->slots, slots->n_slots, sizeof(wanted), compare);
		int r;

		if (!wanted.addr || !slot)
			continue;
		r = add_stub(table, header->sh_addr + at, step, slot->name);
		if (r < 0)
			return r;
		n_added++;
	}
	return n_added;
}

static bool is_plt(Elf *elf, const GElf_Shdr *header)
{
	GElf_Ehdr ehdr;
	size_t names;
	const char *name;

	if (!gelf_getehdr(elf, &ehdr) || ehdr.e_machine != EM_X86_64 ||
	    elf_getshdrstrndx(elf, &names) != 0)
		return false;
	name = elf_strptr(elf, names, header->sh_name);
	return name && strncmp(name, ".plt", 4) == 0 && (header->sh_flags & SHF_EXECINSTR);
}

int elf_plt_read(Elf *elf, struct symbol_table *table)
{
	struct slots slots = {0};
	uint64_t left = MAX_BYTES;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int n_added = 0;
	int r = read_slots(elf, table, &slots);

	while (r >= 0 && slots.n_slots && (section = elf_nextscn(elf, section))) {
		const Elf_Data *data = gelf_getshdr(section, &header) && is_plt(elf, &header)
					       ? elf_section_data(section, left)
					       : NULL;

		if (!data)
			continue;
		left -= data->d_size;
		r = read_stubs(data, &header, &slots, table);
		n_added += r > 0 ? r : 0;
	}
	free(slots.slots);
	return r < 0 ? r : n_added;
}
