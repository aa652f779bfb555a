/* fuzz_tables.c - whatever the tables of a program say, rows are few, and sums are sums */
#include "sampler/collector/tables/table_view.h"

#include "base/saturated.h"
#include "sampler/collector/tables/ticks.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

/* Where things are in the memory of the program, which is a file here. */
enum {
	TABLES_AT = 0x1000,
	THREADS_AT = 0x200000,
	THREAD_BYTES = 0x200000,
	N_THREADS = 2,
	MEMORY_BYTES = THREADS_AT + N_THREADS * THREAD_BYTES,
};

/* The input is a list of these, with LEN bytes behind each. */
struct patch {
	uint32_t at;
	uint8_t len;
} __attribute__((packed));

static int memory(void)
{
	static const uint32_t numbers[] = {TABLES_NAMES, TABLES_NODES, TABLES_CELLS, N_THREADS};
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("tables", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) < 0 || ftruncate(fd, MEMORY_BYTES) < 0 ||
	    pwrite(fd, numbers, sizeof(numbers), TABLES_AT) != sizeof(numbers))
		abort();
	for (uint64_t i = 0; i < N_THREADS; i++) {
		uint64_t address = THREADS_AT + i * THREAD_BYTES;

		if (pwrite(fd, &address, sizeof(address),
			   (off_t)(TABLES_AT + offsetof(struct tables, threads) +
				   i * sizeof(address))) != sizeof(address))
			abort();
	}
	return fd;
}

static void apply(int fd, const uint8_t *input, size_t size)
{
	struct patch patch;

	while (size >= sizeof(patch)) {
		memcpy(&patch, input, sizeof(patch));
		input += sizeof(patch);
		size -= sizeof(patch);
		if (patch.len > size)
			return;
		if (pwrite(fd, input, patch.len, patch.at % (MEMORY_BYTES - UINT8_MAX)) !=
		    patch.len)
			abort();
		input += patch.len;
		size -= patch.len;
	}
}

static void check(const struct totals *totals)
{
	uint64_t sum = 0;
	uint64_t total = 0;

	if (totals->n_nodes > BUILDER_NODES || totals->n_tiers > 3 * (size_t)BUILDER_CELLS)
		abort();
	for (uint32_t i = 1; i < totals->n_nodes; i++)
		if (totals->nodes[i].parent >= i)
			abort();
	for (size_t i = 0; i < totals->n_tiers; i++) {
		const struct total_tier *row = &totals->tiers[i];

		if (strcmp(row->identity, TOTALS_TOTAL) == 0)
			total = saturated_add(total, row->count);
		else if (strcmp(row->identity, TOTALS_OUTSIDE) != 0)
			sum = saturated_add(sum, row->count);
	}
	if (sum != total)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	static struct table_scratch *scratch;
	const struct ticks ticks = {.clock = TABLES_MONOTONIC, .mult = UINT64_C(1) << 32};
	const struct tables_state state = {.tables = TABLES_AT};
	struct table_view view = {0};
	struct totals_builder *builder;
	struct totals totals;
	int fd = memory();

	if (!scratch)
		scratch = table_scratch_new();
	apply(fd, input, size);
	/* Twice: names of the first reading stay. */
	for (int i = 0; i < 2; i++)
		(void)table_view_read(&view, scratch, fd, &state, &(size_t){VIEW_BYTES});
	if (totals_builder_new(&builder) < 0 || table_view_add(&view, builder, &ticks, true) < 0 ||
	    totals_builder_finish(builder, &totals) < 0)
		abort();
	check(&totals);
	totals_release(&totals);
	table_view_release(&view, scratch);
	return 0;
}
