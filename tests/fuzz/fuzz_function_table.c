/*
 * fuzz_function_table.c - tables that are lies, and tables of anything that a reader could add
 *
 * The first byte chooses: bytes of a table as a file would have them; or calls of the builder,
 * whose table must be good and found in.
 */
#include "symbolize/function/function_table.h"

#include <stdlib.h>
#include <string.h>

enum { STEP = 8 };

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static struct function_chain chain;
static volatile size_t sink;

static size_t len_of(const char *text)
{
	return text ? strlen(text) : 0;
}

/* What a lookup hands out is read to its end. */
static void look_up(const struct function_table *table, uint64_t addr)
{
	if (function_table_find(table, addr, &chain) < 0)
		return;
	for (size_t i = 0; i < chain.n_levels; i++)
		sink += strlen(chain.levels[i].name) + strlen(chain.levels[i].file) +
			len_of(chain.levels[i].readable);
	sink += len_of(chain.symbol.name) + len_of(chain.symbol.readable);
}

static void read_all(const struct function_table *table)
{
	uint64_t lo;
	uint64_t hi;

	for (size_t i = 0; function_table_range(table, i, &lo, &hi); i++) {
		const uint64_t step = (hi - lo) / 16 + 1;

		if (lo >= hi)
			abort();
		look_up(table, lo - 1);
		look_up(table, hi);
		for (uint64_t addr = lo; addr < hi; addr += step)
			look_up(table, addr);
		if (function_table_find(table, lo, &chain) < 0 || chain.start != lo)
			abort();
	}
}

/* Bytes of their own: a read beyond them is seen. */
static void read_bytes(const unsigned char *data, size_t size)
{
	struct function_table table = {malloc(size ? size : 1), size};

	if (!table.bytes)
		return;
	memcpy((void *)table.bytes, data, size);
	if (function_table_check(&table) == 0)
		read_all(&table);
	free((void *)table.bytes);
}

/* Eight bytes a call: what, then three numbers. */
static void add(struct function_builder *builder, const unsigned char *step)
{
	const uint64_t far = (uint64_t)(step[0] >> 4) << 28;
	const char name[2] = {(char)('a' + step[1] % 26), '\0'};
	uint16_t numbers[3];

	memcpy(numbers, step + 2, sizeof(numbers));
	switch (step[0] % 3) {
	case 0:
		(void)function_builder_node(builder, numbers[0], name,
					    function_builder_file(builder, name), numbers[1],
					    (uint32_t)numbers[2] << 1);
		break;
	case 1:
		(void)function_builder_range(builder, step[1], far + numbers[0],
					     far + numbers[0] + numbers[1]);
		break;
	default:
		(void)function_builder_row(builder, far + numbers[0],
					   function_builder_file(builder, name), numbers[1],
					   numbers[2]);
	}
}

static void build(const unsigned char *data, size_t size)
{
	static struct function_builder *builder;
	struct function_table table;

	if (!builder && function_builder_new(&builder) < 0)
		return;
	function_builder_reset(builder);
	for (size_t at = 0; at + STEP <= size; at += STEP)
		add(builder, data + at);
	if (function_builder_finish(builder, &table) < 0)
		return;
	if (function_table_check(&table) < 0)
		abort();
	read_all(&table);
	free((void *)table.bytes);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	if (size < 1)
		return 0;
	if (data[0] % 2)
		read_bytes(data + 1, size - 1);
	else
		build(data + 1, size - 1);
	return 0;
}
