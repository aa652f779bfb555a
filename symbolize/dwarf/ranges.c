/* ranges.c - .debug_ranges (DWARF 4, 2.17.3) and .debug_rnglists (DWARF 5, 2.17.3 and 7.28) */
#include "symbolize/dwarf/ranges.h"

#include "symbolize/bounds/cursor.h"

#include <dwarf.h>
#include <errno.h>

/* A list being read: what its entries are relative to, and the callback. */
struct list {
	const struct dwarf_unit *unit;
	uint64_t base;
	uint64_t highest; /* address */
	uint64_t *left;   /* entries */
	ranges_callback *callback;
	void *context;
};

/* Bounds of one entry. */
struct bounds {
	uint64_t lo;
	uint64_t hi;
};

static uint64_t highest_address(const struct dwarf_unit *unit)
{
	return unit->format.address_size == 4 ? UINT32_MAX : UINT64_MAX;
}

/* A base that marks code that was thrown away makes what is relative to it such code. */
static bool thrown_away(const struct list *list, uint64_t addr)
{
	return addr >= list->highest - 1;
}

static int report(const struct list *list, struct bounds bounds)
{
	if (bounds.lo >= bounds.hi || bounds.lo <= 1 || thrown_away(list, bounds.lo))
		return 0;
	return list->callback(list->context, bounds.lo, bounds.hi);
}

static int report_relative(const struct list *list, uint64_t lo, uint64_t hi)
{
	if (thrown_away(list, list->base))
		return 0;
	return report(list, (struct bounds){.lo = (list->base + lo) & list->highest,
					    .hi = (list->base + hi) & list->highest});
}

static int read_ranges(struct cursor *cursor, struct list *list)
{
	uint8_t size = list->unit->format.address_size;

	for (; *list->left; --*list->left) {
		uint64_t lo = cursor_unsigned(cursor, size);
		uint64_t hi = cursor_unsigned(cursor, size);
		int r = 0;

		if (cursor->failed)
			return -EBADMSG;
		if (lo == 0 && hi == 0)
			return 0;
		if (lo == list->highest)
			list->base = hi;
		else
			r = report_relative(list, lo, hi);
		if (r)
			return r;
	}
	return -EBADMSG;
}

static uint64_t indexed(struct cursor *cursor, const struct list *list)
{
	uint64_t addr = 0;

	if (!form_indexed_address(list->unit, cursor_uleb(cursor), &addr))
		cursor_fail(cursor);
	return addr;
}

/* LEN bytes from LO on; a length that leaves the address space makes the range empty. */
static struct bounds with_length(uint64_t lo, uint64_t len)
{
	return (struct bounds){.lo = lo, .hi = lo + len < lo ? lo : lo + len};
}

/* An entry that is a range by itself, or changes the base and is an empty one. */
static struct bounds read_entry(struct cursor *cursor, struct list *list, uint8_t kind)
{
	uint8_t size = list->unit->format.address_size;
	struct bounds bounds = {0};

	switch (kind) {
	case DW_RLE_base_addressx:
		list->base = indexed(cursor, list);
		break;
	case DW_RLE_startx_endx:
		bounds.lo = indexed(cursor, list);
		bounds.hi = indexed(cursor, list);
		break;
	case DW_RLE_startx_length:
		bounds.lo = indexed(cursor, list);
		bounds = with_length(bounds.lo, cursor_uleb(cursor));
		break;
	case DW_RLE_base_address:
		list->base = cursor_unsigned(cursor, size);
		break;
	case DW_RLE_start_end:
		bounds.lo = cursor_unsigned(cursor, size);
		bounds.hi = cursor_unsigned(cursor, size);
		break;
	case DW_RLE_start_length:
		bounds.lo = cursor_unsigned(cursor, size);
		bounds = with_length(bounds.lo, cursor_uleb(cursor));
		break;
	default:
		cursor_fail(cursor); /* its length is not known */
		break;
	}
	return bounds;
}

static int read_rnglist(struct cursor *cursor, struct list *list)
{
	for (; *list->left; --*list->left) {
		uint8_t kind = cursor_u8(cursor);
		struct bounds bounds;
		int r;

		if (kind == DW_RLE_end_of_list)
			return cursor->failed ? -EBADMSG : 0;
		if (kind == DW_RLE_offset_pair) {
			bounds.lo = cursor_uleb(cursor);
			bounds.hi = cursor_uleb(cursor);
		} else {
			bounds = read_entry(cursor, list, kind);
		}
		if (cursor->failed)
			return -EBADMSG;
		r = kind == DW_RLE_offset_pair ? report_relative(list, bounds.lo, bounds.hi)
					       : report(list, bounds);
		if (r)
			return r;
	}
	return -EBADMSG;
}

/* The offset of a list in .debug_rnglists from the offsets at the unit's base; a split unit has
 * no base of its own: its offsets follow the first header (7.28). */
static int list_of_index(const struct dwarf_unit *unit, uint64_t index, uint64_t *ret_offset)
{
	const struct dwarf_bytes *bytes = &unit->source->of[DWARF_RNGLISTS];
	uint8_t size = unit->format.offset_size;
	uint64_t base = unit->rnglists_base;
	struct cursor cursor;

	if (base == 0)
		base = size == 8 ? 20 : 12;
	if (base > bytes->len || index > (bytes->len - base) / size)
		return -EBADMSG;
	cursor = cursor_over(bytes->data, bytes->len, base - 4, base);
	if (index >= cursor_u32(&cursor))
		return -EBADMSG;
	cursor = cursor_over(bytes->data, bytes->len, base + index * size, bytes->len);
	*ret_offset = base + cursor_unsigned(&cursor, size);
	return cursor.failed ? -EBADMSG : 0;
}

int ranges_each(const struct dwarf_unit *unit, const struct form_value *value,
		ranges_callback *callback, void *context)
{
	uint64_t left = RANGES_MAX_COUNT;

	return ranges_each_of(unit, value, &left, callback, context);
}

int ranges_each_of(const struct dwarf_unit *unit, const struct form_value *value, uint64_t *left,
		   ranges_callback *callback, void *context)
{
	bool old = unit->format.version < 5;
	const struct dwarf_bytes *bytes = &unit->source->of[old ? DWARF_RANGES : DWARF_RNGLISTS];
	struct list list = {
		.unit = unit,
		.base = unit->low_pc,
		.highest = highest_address(unit),
		.left = left,
		.callback = callback,
		.context = context,
	};
	uint64_t offset = value->number;
	struct cursor cursor;

	if (value->class == FORM_LIST_INDEX) {
		if (old || list_of_index(unit, value->number, &offset) < 0)
			return -EBADMSG;
	} else if (value->class != FORM_OFFSET && value->class != FORM_CONSTANT) {
		return -EBADMSG;
	}
	if (old && unit->source->split &&
	    __builtin_add_overflow(offset, unit->ranges_base, &offset))
		return -EBADMSG;
	cursor = cursor_over(bytes->data, bytes->len, offset, bytes->len);
	return old ? read_ranges(&cursor, &list) : read_rnglist(&cursor, &list);
}
