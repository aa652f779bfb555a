/* dwarf_fallback.c - the same walk as ours, over libdw's entries, counted */
#include "symbolize/sections/dwarf_fallback.h"

#include "symbolize/bounds/loader.h"
#include "symbolize/sections/sections.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
	MAX_UNITS = 256 * 1024,
	MAX_ENTRIES = 4 * 1024 * 1024, /* read for one address */
	MAX_LIST = 64 * 1024,          /* ranges of an entry */
	MAX_NESTING = FUNCTION_MAX_DEPTH,
};

struct dwarf_fallback {
	const struct dwarf_sections *sections;
	pthread_mutex_t lock; /* all below */
	bool tried;
	Elf *elf; /* our own over the same bytes: libelf has no lock either */
	Dwarf *dwarf;
	struct memory_claim claim; /* on what libdw decompresses */
	size_t entries_left;
};

/* A function on its way into a builder. */
struct reading {
	struct dwarf_fallback *fallback;
	struct function_builder *builder;
	Dwarf_Die unit;
	uint64_t lo; /* of all its ranges */
	uint64_t hi;
};

/* One level of entries, and what it is inlined into. */
struct level {
	Dwarf_Die die;
	uint32_t node;
};

int dwarf_fallback_new(const struct dwarf_sections *sections, struct dwarf_fallback **ret_fallback)
{
	struct dwarf_fallback *fallback = calloc(1, sizeof(*fallback));

	if (!fallback)
		return -ENOMEM;
	fallback->sections = sections;
	(void)pthread_mutex_init(&fallback->lock, NULL);
	*ret_fallback = fallback;
	return 0;
}

void dwarf_fallback_free(struct dwarf_fallback *fallback)
{
	if (!fallback)
		return;
	if (fallback->dwarf)
		(void)dwarf_end(fallback->dwarf);
	if (fallback->elf)
		(void)elf_end(fallback->elf);
	(void)memory_claim(&fallback->claim, 0);
	(void)pthread_mutex_destroy(&fallback->lock);
	free(fallback);
}

/* libdw decompresses all sections at once and trusts their headers. */
static bool fits(Elf *elf, size_t file_bytes, struct memory_claim *claim)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Chdr compressed;
	uint64_t most = (uint64_t)file_bytes * INFLATE_MAX_RATIO;
	uint64_t left = most;

	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_COMPRESSED) ||
		    !gelf_getchdr(section, &compressed))
			continue;
		if (compressed.ch_size > left ||
		    compressed.ch_size / INFLATE_MAX_RATIO > header.sh_size)
			return false;
		left -= compressed.ch_size;
	}
	return memory_claim(claim, most - left) == 0;
}

static void open_once(struct dwarf_fallback *fallback)
{
	size_t n_bytes;
	char *bytes;

	if (fallback->tried)
		return;
	fallback->tried = true;
	bytes = elf_rawfile(fallback->sections->elf, &n_bytes);
	fallback->elf = bytes ? elf_memory(bytes, n_bytes) : NULL;
	if (fallback->elf && fits(fallback->elf, fallback->sections->real_bytes, &fallback->claim))
		fallback->dwarf = dwarf_begin_elf(fallback->elf, DWARF_C_READ, NULL);
}

/* Whether an entry has code at ADDR; dwarf_haspc() would read as many ranges as there are. */
static bool has_address(Dwarf_Die *die, uint64_t addr)
{
	Dwarf_Addr base;
	Dwarf_Addr lo;
	Dwarf_Addr hi;
	ptrdiff_t at = 0;

	for (int n = 0; n < MAX_LIST && (at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0; n++) {
		if (lo > 0 && addr >= lo && addr < hi)
			return true;
	}
	return false;
}

static bool find_unit(struct dwarf_fallback *fallback, uint64_t addr, Dwarf_Die *ret_unit)
{
	Dwarf_Off offset = 0;
	Dwarf_Off next;
	size_t header;

	if (dwarf_addrdie(fallback->dwarf, addr, ret_unit))
		return true;
	for (int n = 0; n < MAX_UNITS && !loader_is_stopping(); n++) {
		if (dwarf_nextcu(fallback->dwarf, offset, &next, &header, NULL, NULL, NULL) != 0 ||
		    next <= offset)
			break;
		if (dwarf_offdie(fallback->dwarf, offset + header, ret_unit) &&
		    has_address(ret_unit, addr))
			return true;
		offset = next;
	}
	return false;
}

/* To the entry after DIE, on the same level or further up. */
static bool next_entry(struct level *levels, size_t *depth)
{
	for (;; --*depth) {
		if (dwarf_siblingof(&levels[*depth].die, &levels[*depth].die) == 0)
			return true;
		if (*depth == 0)
			return false;
	}
}

/* The outermost function that has the address, anywhere below the unit's root. */
static int find_function(struct reading *reading, uint64_t addr, Dwarf_Die *ret_function)
{
	struct level levels[MAX_NESTING];
	size_t depth = 0;

	if (dwarf_child(&reading->unit, &levels[0].die) != 0)
		return -ENOENT;
	while (reading->fallback->entries_left > 0 && !loader_is_stopping()) {
		Dwarf_Die *die = &levels[depth].die;

		reading->fallback->entries_left--;
		if (dwarf_tag(die) == DW_TAG_subprogram && has_address(die, addr)) {
			*ret_function = *die;
			return 0;
		}
		if (depth + 1 < MAX_NESTING && dwarf_child(die, &levels[depth + 1].die) == 0)
			depth++;
		else if (!next_entry(levels, &depth))
			return -ENOENT;
	}
	return -E2BIG;
}

static const char *name_of(Dwarf_Die *function)
{
	static const unsigned kinds[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name};
	Dwarf_Attribute attr;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const char *name = dwarf_attr_integrate(function, kinds[i], &attr)
					   ? dwarf_formstring(&attr)
					   : NULL;

		if (name)
			return name;
	}
	return "";
}

static uint32_t number(Dwarf_Die *die, unsigned kind)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (!dwarf_attr(die, kind, &attr) || dwarf_formudata(&attr, &value) != 0 ||
	    value > UINT32_MAX)
		return 0;
	return (uint32_t)value;
}

static uint32_t call_file(struct reading *reading, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	const char *path = NULL;
	Dwarf_Word file;
	size_t n;

	if (dwarf_attr(die, DW_AT_call_file, &attr) && dwarf_formudata(&attr, &file) == 0 &&
	    dwarf_getsrcfiles(&reading->unit, &files, &n) == 0 && file < n)
		path = dwarf_filesrc(files, file, NULL, NULL);
	return path ? function_builder_file(reading->builder, path) : FUNCTION_NO_FILE;
}

static int add_ranges(struct reading *reading, Dwarf_Die *die, uint32_t node)
{
	Dwarf_Addr base;
	Dwarf_Addr lo;
	Dwarf_Addr hi;
	ptrdiff_t at = 0;
	int r = 0;

	for (int n = 0; r == 0 && n < MAX_LIST; n++) {
		at = dwarf_ranges(die, at, &base, &lo, &hi);
		if (at <= 0)
			break;
		if (lo == 0 || lo >= hi)
			continue;
		r = function_builder_range(reading->builder, node, lo, hi);
		if (node == 0) {
			reading->lo = lo < reading->lo ? lo : reading->lo;
			reading->hi = hi > reading->hi ? hi : reading->hi;
		}
	}
	return r;
}

/* An entry within the function: an inlined call becomes a node. */
static int add_entry(struct reading *reading, struct level *level)
{
	int node;

	if (dwarf_tag(&level->die) != DW_TAG_inlined_subroutine)
		return 0;
	node = function_builder_node(reading->builder, level->node, name_of(&level->die),
				     call_file(reading, &level->die),
				     number(&level->die, DW_AT_call_line),
				     number(&level->die, DW_AT_call_column));
	if (node < 0)
		return node;
	level->node = (uint32_t)node;
	return add_ranges(reading, &level->die, level->node);
}

static int add_inlined(struct reading *reading, Dwarf_Die *function)
{
	struct level levels[MAX_NESTING] = {0};
	size_t depth = 0;
	uint32_t parents[MAX_NESTING] = {0};

	if (dwarf_child(function, &levels[0].die) != 0)
		return 0;
	while (reading->fallback->entries_left > 0 && !loader_is_stopping()) {
		struct level *level = &levels[depth];
		int r;

		reading->fallback->entries_left--;
		level->node = parents[depth];
		r = add_entry(reading, level);
		if (r < 0)
			return r;
		if (depth + 1 < MAX_NESTING && dwarf_tag(&level->die) != DW_TAG_subprogram &&
		    dwarf_child(&level->die, &levels[depth + 1].die) == 0)
			parents[++depth] = level->node;
		else if (!next_entry(levels, &depth))
			return 0;
	}
	return -E2BIG;
}

static int add_row(struct reading *reading, Dwarf_Line *line, uint64_t addr)
{
	const char *path = dwarf_linesrc(line, NULL, NULL);
	bool ends = true;
	int at = 0;
	int column = 0;

	(void)dwarf_lineendsequence(line, &ends);
	(void)dwarf_lineno(line, &at);
	(void)dwarf_linecol(line, &column);
	if (ends || at < 0 || !path)
		at = 0;
	return function_builder_row(reading->builder, addr,
				    path ? function_builder_file(reading->builder, path)
					 : FUNCTION_NO_FILE,
				    (uint32_t)at, column < 0 ? 0 : (uint32_t)column);
}

/* Rows are by address; the one before the function's first is needed where that lies in it. */
static int add_rows(struct reading *reading)
{
	Dwarf_Lines *lines;
	Dwarf_Line *before = NULL;
	size_t n;
	int r = 0;

	if (dwarf_getsrclines(&reading->unit, &lines, &n) != 0)
		return 0;
	for (size_t i = 0; r == 0 && i < n; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		Dwarf_Addr addr;

		if (dwarf_lineaddr(line, &addr) != 0 || addr >= reading->hi)
			continue;
		if (addr <= reading->lo) {
			before = line;
			continue;
		}
		if (before)
			r = add_row(reading, before, reading->lo);
		before = NULL;
		if (r == 0)
			r = add_row(reading, line, addr);
	}
	return r == 0 && before ? add_row(reading, before, reading->lo) : r;
}

static int read_function(struct reading *reading, Dwarf_Die *function,
			 struct function_table *ret_table)
{
	int r = function_builder_node(reading->builder, 0, name_of(function), FUNCTION_NO_FILE, 0,
				      0);

	if (r >= 0)
		r = add_ranges(reading, function, 0);
	if (r >= 0)
		r = add_inlined(reading, function);
	if (r >= 0)
		r = add_rows(reading);
	return r < 0 ? r : function_builder_finish(reading->builder, ret_table);
}

static int read_at(struct dwarf_fallback *fallback, uint64_t addr, struct function_table *ret_table)
{
	struct reading reading = {.fallback = fallback, .lo = UINT64_MAX};
	Dwarf_Die function;
	int r;

	fallback->entries_left = MAX_ENTRIES;
	if (!find_unit(fallback, addr, &reading.unit))
		return -ENOENT;
	r = find_function(&reading, addr, &function);
	if (r == 0)
		r = function_builder_new(&reading.builder);
	if (r < 0)
		return r;
	r = read_function(&reading, &function, ret_table);
	function_builder_free(reading.builder);
	return r;
}

int dwarf_fallback_read(struct dwarf_fallback *fallback, uint64_t addr,
			struct function_table *ret_table)
{
	int r = -EBADMSG;

	(void)pthread_mutex_lock(&fallback->lock);
	open_once(fallback);
	if (fallback->dwarf)
		r = read_at(fallback, addr, ret_table);
	(void)pthread_mutex_unlock(&fallback->lock);
	return r;
}
