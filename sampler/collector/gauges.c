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
	LOOK_PART = 50,      /* a look may take this part of the time */
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

/* Processes with many mappings are looked through less often. */
static void look_for_tables(struct gauges *gauges, uint64_t now_ns)
{
	uint64_t wait_ns = gauges->wait_ms * NS_PER_MS;
	uint64_t begun_ns;
	uint64_t took_ns;
	struct buf maps;
	char path[64];

	if (now_ns < gauges->look_ns)
		return;
	begun_ns = io_now_ns();
	buf_init(&maps, MAPS_MAX_BYTES);
	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)gauges->pid);
	if (io_read_file(path, &maps, NULL) == 0)
		gauges->n_tables =
			gauge_notes_find(gauges->pid, maps.data, maps.len, gauges->tables);
	buf_release(&maps);
	took_ns = io_now_ns() - begun_ns;
	if (wait_ns < took_ns * LOOK_PART)
		wait_ns = took_ns * LOOK_PART;
	gauges->look_ns = now_ns + wait_ns;
	gauges->wait_ms = gauges->wait_ms * 2 < LOOK_MOST_MS ? gauges->wait_ms * 2 : LOOK_MOST_MS;
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

/* Where the values stand; the first table that has a name has it. */
static uint32_t find_values(const struct gauges *gauges, uint64_t *addresses)
{
	struct gauge_table table;
	uint32_t found = 0;

	for (size_t t = 0; t < gauges->n_tables; t++) {
		if (!gauge_notes_copy(gauges->pid, gauges->tables[t], &table, sizeof(table)))
			continue;
		for (size_t i = 0; i < GAUGES_SLOTS && table.slots[i].state != GAUGE_FREE; i++) {
			const struct gauge_slot *slot = &table.slots[i];
			size_t name =
				slot->state == GAUGE_READY ? name_of(gauges, slot) : gauges->n;

			if (name == gauges->n || found >> name & 1U || !slot->address)
				continue;
			addresses[name] = slot->address;
			found |= UINT32_C(1) << name;
		}
	}
	return found;
}

/* One call for all; one more for each address that cannot be read. */
static void read_values(const struct gauges *gauges, const uint64_t *addresses, int64_t *values)
{
	struct iovec local[MAX_NAMES];
	struct iovec remote[MAX_NAMES];
	int64_t read[MAX_NAMES] = {0};
	size_t of[MAX_NAMES];
	size_t n = 0;

	for (size_t i = 0; i < gauges->n; i++) {
		if (!addresses[i] || addresses[i] >= USER_ADDRESS_END)
			continue;
		local[n] = (struct iovec){.iov_base = &read[n], .iov_len = sizeof(read[n])};
		remote[n].iov_len = sizeof(read[n]);
		/* An address of the other process: no pointer of ours. */
		memcpy(&remote[n].iov_base, &addresses[i], sizeof(addresses[i]));
		of[n++] = i;
	}
	for (size_t at = 0; at < n; at++) {
		ssize_t bytes =
			process_vm_readv(gauges->pid, local + at, n - at, remote + at, n - at, 0);

		for (; bytes >= (ssize_t)sizeof(read[0]); bytes -= (ssize_t)sizeof(read[0]), at++)
			values[of[at]] = read[at];
	}
}

uint32_t gauges_read(struct gauges *gauges, uint64_t now_ns, int64_t *values)
{
	uint64_t addresses[MAX_NAMES] = {0};
	uint32_t found;

	if (!gauges->complete)
		look_for_tables(gauges, now_ns);
	found = find_values(gauges, addresses);
	gauges->complete = found == (UINT32_C(1) << gauges->n) - 1;
	read_values(gauges, addresses, values);
	return found;
}
