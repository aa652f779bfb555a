/* gauges.c - the numbers that a program keeps by include/wick.h */
#include "sampler/collector/metrics/gauges.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/units.h"
#include "sampler/procfs/notes.h"
#include "sampler/procfs/proc.h"
#include "sampler/procfs/proc_maps.h"
#include "sampler/wire/gauges.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* While notes are gone through. */
struct finder {
	uint64_t *tables;
	size_t n;
};

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

static bool visit(void *context, const struct module_note *note)
{
	struct finder *finder = context;
	int64_t distance;

	if (note->type == GAUGES_NOTE && note->desc_len == sizeof(distance)) {
		memcpy(&distance, note->desc, sizeof(distance));
		finder->n =
			add_table(finder->tables, finder->n, note->address + (uint64_t)distance);
	}
	return finder->n < GAUGE_TABLES;
}

size_t gauge_notes_in(const unsigned char *bytes, size_t len, uint64_t address,
		      uint64_t tables[GAUGE_TABLES], size_t n)
{
	struct finder finder = {.tables = tables, .n = n};

	(void)notes_in(bytes, len, address, 0, visit, &finder);
	return finder.n;
}

static size_t find_tables(int mem_fd, const struct buf *maps, uint64_t tables[GAUGE_TABLES])
{
	struct finder finder = {.tables = tables};

	notes_find(mem_fd, maps->data, maps->len, visit, &finder);
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
		gauges->n_tables = find_tables(gauges->mem_fd, &maps, gauges->tables);
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
		if (!proc_memory_copy(gauges->mem_fd, gauges->tables[t], &table, sizeof(table)))
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
		    proc_memory_copy(gauges->mem_fd, addresses[i], &value, sizeof(value)))
			values[i] = value;
	}
	return found;
}
