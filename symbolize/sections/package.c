/* package.c - a hash table from ids to rows, and a row of offsets and sizes for every unit */
#include "symbolize/sections/package.h"

#include "symbolize/dwarf/cursor.h"

#include <errno.h>
#include <string.h>

enum { MAX_COLUMNS = 16, HEAD_BYTES = 16 };

/* The index: its head, and where its tables begin. */
struct index {
	uint16_t version;
	uint32_t n_columns;
	uint32_t n_units;
	uint32_t n_slots;
	const uint8_t *ids;     /* n_slots, 64 bits */
	const uint8_t *rows;    /* n_slots, 32 bits; from 1, 0: the slot is free */
	const uint8_t *columns; /* n_columns, 32 bits: which section */
	const uint8_t *offsets; /* n_units times n_columns, 32 bits */
	const uint8_t *sizes;
};

static uint32_t u32_at(const uint8_t *table, uint64_t i)
{
	uint32_t value;

	memcpy(&value, table + i * sizeof(value), sizeof(value));
	return value;
}

static uint64_t u64_at(const uint8_t *table, uint64_t i)
{
	uint64_t value;

	memcpy(&value, table + i * sizeof(value), sizeof(value));
	return value;
}

static int read_index(const struct dwarf_bytes *bytes, struct index *ret_index)
{
	struct cursor cursor = cursor_over(bytes->data, bytes->len, 0, bytes->len);
	struct index index = {.version = (uint16_t)cursor_u32(&cursor)}; /* 5 has 16 bits unused */
	uint64_t table;

	index.n_columns = cursor_u32(&cursor);
	index.n_units = cursor_u32(&cursor);
	index.n_slots = cursor_u32(&cursor);
	if ((index.version != 2 && index.version != 5) || index.n_columns > MAX_COLUMNS ||
	    (index.n_slots & (index.n_slots - 1)))
		return -EBADMSG;
	table = (uint64_t)index.n_units * index.n_columns * 4;
	index.ids = cursor_skip(&cursor, (uint64_t)index.n_slots * 8);
	index.rows = cursor_skip(&cursor, (uint64_t)index.n_slots * 4);
	index.columns = cursor_skip(&cursor, (uint64_t)index.n_columns * 4);
	index.offsets = cursor_skip(&cursor, table);
	index.sizes = cursor_skip(&cursor, table);
	if (cursor.failed)
		return -EBADMSG;
	*ret_index = index;
	return 0;
}

/* The row of an id, from 1; 0: it has none.  Double hashing over a power of two. */
static uint32_t row_of(const struct index *index, uint64_t dwo_id)
{
	uint64_t mask = index->n_slots - 1;
	uint64_t slot = dwo_id & mask;
	uint64_t step = ((dwo_id >> 32) & mask) | 1;

	for (uint32_t n = 0; n < index->n_slots; n++) {
		uint32_t row = u32_at(index->rows, slot);

		if (row == 0)
			return 0;
		if (u64_at(index->ids, slot) == dwo_id)
			return row <= index->n_units ? row : 0;
		slot = (slot + step) & mask;
	}
	return 0;
}

/* DW_SECT_* as far as they are of use; the numbers of both versions agree in these but for 8. */
static int section_of(uint16_t version, uint32_t column)
{
	switch (column) {
	case 1:
		return DWARF_INFO;
	case 3:
		return DWARF_ABBREV;
	case 4:
		return DWARF_LINE;
	case 6:
		return DWARF_STR_OFFSETS;
	case 8:
		return version == 5 ? DWARF_RNGLISTS : -1;
	default:
		return -1;
	}
}

static int slice(const struct index *index, uint32_t row, struct dwarf_bytes *of)
{
	for (uint32_t column = 0; column < index->n_columns; column++) {
		uint64_t at = (uint64_t)(row - 1) * index->n_columns + column;
		uint64_t offset = u32_at(index->offsets, at);
		uint64_t size = u32_at(index->sizes, at);
		int which = section_of(index->version, u32_at(index->columns, column));

		if (which < 0)
			continue;
		if (offset > of[which].len || size > of[which].len - offset)
			return -EBADMSG;
		of[which] = (struct dwarf_bytes){
			.data = of[which].data ? of[which].data + offset : NULL, .len = size};
	}
	return 0;
}

int package_find(const struct dwarf_sections *sections, uint64_t dwo_id, struct dwarf_bytes *of)
{
	struct index index;
	uint32_t row;
	int r = read_index(&sections->of[DWARF_CU_INDEX], &index);

	if (r < 0)
		return r;
	row = index.n_slots ? row_of(&index, dwo_id) : 0;
	if (row == 0)
		return -ENOENT;
	memcpy(of, sections->of, sizeof(sections->of));
	return slice(&index, row, of);
}
