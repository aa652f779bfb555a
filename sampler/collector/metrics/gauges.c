/* gauges.c - the numbers that a program keeps by include/wick.h */
#include "sampler/collector/metrics/gauges.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/elf_segments.h"
#include "base/io.h"
#include "base/units.h"
#include "sampler/procfs/proc_maps.h"
#include "sampler/wire/gauges.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
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

/* The module whose ELF header is at START. */
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

enum {
	SEARCH_LEAST_MS = 50,
	SEARCH_MOST_MS = 2000, /* for a name that is not registered, or a module loaded late */
	SEARCH_PART = 50,      /* a search may take this part of a processor */
	MAX_NAMES = 31,
};

struct gauges {
	pid_t pid;
	int mem_fd; /* the program's memory until it calls exec */
	const char *const *names;
	size_t n;
	uint64_t tables[GAUGE_TABLES];
	size_t n_tables;
	bool complete;      /* every name was found */
	uint64_t search_ns; /* when modules are searched next */
	uint32_t wait_ms;
};

int gauges_new(struct gauges **ret_gauges, pid_t pid, const char *const *names, size_t n)
{
	struct gauges *gauges = calloc(1, sizeof(*gauges));

	if (!gauges)
		return -ENOMEM;
	gauges->pid = pid;
	gauges->mem_fd = -1;
	gauges->names = names;
	gauges->n = n < MAX_NAMES ? n : MAX_NAMES;
	gauges->wait_ms = SEARCH_LEAST_MS;
	*ret_gauges = gauges;
	return 0;
}

void gauges_free(struct gauges *gauges)
{
	if (gauges)
		cleanup_fd(&gauges->mem_fd);
	free(gauges);
}

/* Processes with many mappings are searched less often. */
static void search_tables(struct gauges *gauges, uint64_t now_ns)
{
	uint64_t wait_ns = gauges->wait_ms * NS_PER_MS;
	uint64_t begun_ns;
	uint64_t took_ns;
	struct buf maps;
	char path[64];

	if (now_ns < gauges->search_ns)
		return;
	begun_ns = io_thread_ns();
	cleanup_fd(&gauges->mem_fd);
	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)gauges->pid);
	gauges->mem_fd = open(path, O_RDONLY | O_CLOEXEC);
	buf_init(&maps, MAPS_MAX_BYTES);
	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)gauges->pid);
	if (io_read_file(path, &maps, NULL) == 0)
		gauges->n_tables =
			gauge_notes_find(gauges->mem_fd, maps.data, maps.len, gauges->tables);
	buf_release(&maps);
	took_ns = io_thread_ns() - begun_ns;
	if (wait_ns < took_ns * SEARCH_PART)
		wait_ns = took_ns * SEARCH_PART;
	gauges->search_ns = now_ns + wait_ns;
	gauges->wait_ms =
		gauges->wait_ms * 2 < SEARCH_MOST_MS ? gauges->wait_ms * 2 : SEARCH_MOST_MS;
}

/* Which of the names a slot has; N: none of them. */
static size_t name_of(const struct gauges *gauges, const struct gauge_slot *slot)
{
	size_t i = 0;

	/* A name of ours ends within the slot's bytes, or it is not the slot's. */
	while (i < gauges->n && strncmp(gauges->names[i], slot->name, sizeof(slot->name)) != 0)
		i++;
	return i;
}

/* Where the values stand, or the values that stand in a table; the first that has a name has it. */
static uint32_t find_values(const struct gauges *gauges, uint64_t *addresses, int64_t *values)
{
	struct gauge_table table;
	uint32_t found = 0;

	for (size_t t = 0; t < gauges->n_tables; t++) {
		if (!gauge_notes_copy(gauges->mem_fd, gauges->tables[t], &table, sizeof(table)))
			continue;
		for (size_t i = 0; i < GAUGES_SLOTS && table.slots[i].state != GAUGE_FREE; i++) {
			const struct gauge_slot *slot = &table.slots[i];
			size_t name =
				slot->state == GAUGE_READY ? name_of(gauges, slot) : gauges->n;

			if (name == gauges->n || found >> name & 1U || !slot->address)
				continue;
			found |= UINT32_C(1) << name;
			if (slot->address == gauges->tables[t] + i * sizeof(*slot) +
						     offsetof(struct gauge_slot, value))
				values[name] = slot->value;
			else
				addresses[name] = slot->address;
		}
	}
	return found;
}

uint32_t gauges_read(struct gauges *gauges, uint64_t now_ns, int64_t *values)
{
	uint64_t addresses[MAX_NAMES] = {0};
	uint32_t found;

	if (!gauges->complete)
		search_tables(gauges, now_ns);
	found = find_values(gauges, addresses, values);
	gauges->complete = found == (UINT32_C(1) << gauges->n) - 1;
	for (size_t i = 0; i < gauges->n; i++) {
		int64_t value;

		if (addresses[i] &&
		    gauge_notes_copy(gauges->mem_fd, addresses[i], &value, sizeof(value)))
			values[i] = value;
	}
	return found;
}
