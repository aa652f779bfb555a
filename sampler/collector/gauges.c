/* gauges.c - the numbers that a program keeps by include/wick.h */
#include "sampler/collector/gauges.h"

#include "base/buf.h"
#include "base/io.h"
#include "sampler/collector/gauge_notes.h"
#include "sampler/collector/limits.h"
#include "sampler/wire/gauges.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

enum {
	LOOK_LEAST_MS = 50,
	LOOK_MOST_MS = 2000, /* for a name that nobody registers, or a module loaded late */
	MAX_NAMES = 31,
};

struct gauges {
	pid_t pid;
	const char *const *names;
	size_t n;
	uint64_t tables[GAUGE_TABLES];
	size_t n_tables;
	bool complete;    /* every name was found */
	uint64_t look_ns; /* when modules are looked through next */
	uint32_t wait_ms;
};

bool gauges_name_holds(const char *name, size_t len)
{
	return len > 0 && len < GAUGES_NAME_BYTES &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") >= len;
}

int gauges_new(struct gauges **ret_gauges, pid_t pid, const char *const *names, size_t n)
{
	struct gauges *gauges = calloc(1, sizeof(*gauges));

	if (!gauges)
		return -ENOMEM;
	gauges->pid = pid;
	gauges->names = names;
	gauges->n = n < MAX_NAMES ? n : MAX_NAMES;
	gauges->wait_ms = LOOK_LEAST_MS;
	*ret_gauges = gauges;
	return 0;
}

void gauges_free(struct gauges *gauges)
{
	free(gauges);
}

static void look_for_tables(struct gauges *gauges, uint64_t now_ns)
{
	struct buf maps;
	char path[64];

	if (now_ns < gauges->look_ns)
		return;
	gauges->look_ns = now_ns + gauges->wait_ms * NS_PER_MS;
	gauges->wait_ms = gauges->wait_ms * 2 < LOOK_MOST_MS ? gauges->wait_ms * 2 : LOOK_MOST_MS;
	buf_init(&maps, MAPS_MAX_BYTES);
	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)gauges->pid);
	if (io_read_file(path, &maps, NULL) == 0)
		gauges->n_tables =
			gauge_notes_find(gauges->pid, maps.data, maps.len, gauges->tables);
	buf_release(&maps);
}

/* Which of the names a slot has; N: none of them, or no name at all. */
static size_t name_of(const struct gauges *gauges, const struct gauge_slot *slot)
{
	size_t len = strnlen(slot->name, sizeof(slot->name));
	size_t i = 0;

	if (slot->state != GAUGE_READY || !gauges_name_holds(slot->name, len))
		return gauges->n;
	while (i < gauges->n && strcmp(gauges->names[i], slot->name) != 0)
		i++;
	return i;
}

/* Where the values stand; the first table that has a name has it. */
static uint32_t find_values(const struct gauges *gauges, uint64_t *addresses)
{
	struct gauge_table table;
	uint32_t found = 0;

	for (size_t t = 0; t < gauges->n_tables; t++) {
		if (!gauge_notes_copy(gauges->pid, gauges->tables[t], &table, sizeof(table)))
			continue;
		for (size_t i = 0; i < GAUGES_SLOTS; i++) {
			size_t name = name_of(gauges, &table.slots[i]);

			if (name == gauges->n || found >> name & 1U || !table.slots[i].address)
				continue;
			addresses[name] = table.slots[i].address;
			found |= UINT32_C(1) << name;
		}
	}
	return found;
}

uint32_t gauges_read(struct gauges *gauges, uint64_t now_ns, int64_t *values)
{
	uint64_t addresses[MAX_NAMES] = {0};
	uint32_t found;

	if (!gauges->complete)
		look_for_tables(gauges, now_ns);
	found = find_values(gauges, addresses);
	gauges->complete = found == (UINT32_C(1) << gauges->n) - 1;
	for (size_t i = 0; i < gauges->n; i++) {
		int64_t value;

		if (addresses[i] &&
		    gauge_notes_copy(gauges->pid, addresses[i], &value, sizeof(value)))
			values[i] = value;
	}
	return found;
}
