/* gauge_notes.c - the notes that say where a process's tables of gauges are */
#include "sampler/collector/metrics/gauge_notes.h"

#include "base/elf_notes.h"
#include "base/elf_segments.h"
#include "sampler/procfs/proc_maps.h"
#include "sampler/wire/gauges.h"

#include <string.h>
#include <unistd.h>

enum {
	MAX_NOTES = 4096, /* bytes of one note segment; the rest is not read */
	MAX_MODULES = 4096,
};

/* While a maps file is gone through. */
struct finder {
	int mem_fd;
	uint64_t dev; /* of the module seen last */
	uint64_t inode;
	uint32_t n_modules;
	uint64_t *tables;
	size_t n;
};

bool gauge_notes_copy(int mem_fd, uint64_t address, void *to, size_t len)
{
	return address < USER_ADDRESS_END && pread(mem_fd, to, len, (off_t)address) == (ssize_t)len;
}

static size_t add_table(uint64_t tables[GAUGE_TABLES], size_t n, uint64_t address)
{
	if (n == GAUGE_TABLES || address == 0 || address >= USER_ADDRESS_END)
		return n;
	for (size_t i = 0; i < n; i++)
		if (tables[i] == address)
			return n;
	tables[n] = address;
	return n + 1;
}

size_t gauge_notes_in(const unsigned char *bytes, size_t len, uint64_t address,
		      uint64_t tables[GAUGE_TABLES], size_t n)
{
	struct elf_notes notes = {.bytes = bytes, .len = len, .align = 4};
	struct elf_note note;
	int64_t distance;

	while (elf_notes_next(&notes, &note)) {
		if (!elf_note_is(&note, "wick", GAUGES_NOTE) || note.desc_len != sizeof(distance))
			continue;
		memcpy(&distance, note.desc, sizeof(distance));
		n = add_table(tables, n,
			      address + (uint64_t)(note.desc - bytes) + (uint64_t)distance);
	}
	return n;
}

static void read_notes(struct finder *finder, const Elf64_Phdr *segment, uint64_t bias)
{
	unsigned char notes[MAX_NOTES];
	size_t len = segment->p_memsz < sizeof(notes) ? segment->p_memsz : sizeof(notes);
	uint64_t address = bias + segment->p_vaddr;

	if (gauge_notes_copy(finder->mem_fd, address, notes, len))
		finder->n = gauge_notes_in(notes, len, address, finder->tables, finder->n);
}

static bool copy(void *context, uint64_t address, void *to, size_t len)
{
	return gauge_notes_copy(((const struct finder *)context)->mem_fd, address, to, len);
}

/* The module whose ELF header stands at START. */
static void read_module(struct finder *finder, uint64_t start)
{
	struct elf_segments segments;

	if (!elf_segments_read(&segments, start, copy, finder))
		return;
	for (size_t i = 0; i < segments.n; i++)
		if (segments.at[i].p_type == PT_NOTE)
			read_notes(finder, &segments.at[i], segments.bias);
}

/* A module begins with the first mapping of its file, at offset 0; the vdso has no file. */
static bool visit(void *context, const struct maps_line *line)
{
	struct finder *finder = context;

	if (line->inode == 0 || line->pgoff != 0 ||
	    (line->inode == finder->inode && line->dev == finder->dev))
		return true;
	finder->inode = line->inode;
	finder->dev = line->dev;
	finder->n_modules++;
	read_module(finder, line->start);
	return finder->n < GAUGE_TABLES && finder->n_modules < MAX_MODULES;
}

size_t gauge_notes_find(int mem_fd, const char *maps, size_t len, uint64_t tables[GAUGE_TABLES])
{
	struct finder finder = {.mem_fd = mem_fd, .tables = tables};

	proc_maps_each(maps, len, visit, &finder);
	return finder.n;
}
