/* die.c - the attributes of an entry */
#include "symbolize/dwarf/die.h"

#include "base/array.h"
#include "symbolize/bounds/loader.h"
#include "symbolize/dwarf/ranges.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

/* A table that is being read: arrays that grow. */
struct reading {
	struct abbrev_table *table;
	struct cursor cursor;
	size_t n_attrs, size_attrs;
	size_t n_steps, size_steps;
	size_t size_abbrevs;

	/* Of the abbreviation at hand: attributes, and bytes since the last step and since the last
	 * one that is read, at most 16 for each of ABBREV_MAX_ATTRS. */
	uint32_t n_seen;
	uint32_t bytes;
	uint32_t unread;
};

static uint8_t role_of(uint64_t tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
		return ROLE_NAMESPACE;
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type: /* rust puts methods into them */
	case DW_TAG_variant_part:
		return ROLE_CLASS;
	case DW_TAG_subprogram:
	case DW_TAG_entry_point:
		return ROLE_SUBPROGRAM;
	case DW_TAG_inlined_subroutine:
		return ROLE_INLINED;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
	case DW_TAG_common_block:
		return ROLE_BLOCK;
	default:
		return ROLE_OTHER;
	}
}

static uint8_t slot_of(uint64_t name)
{
	switch (name) {
	case DW_AT_name:
		return SLOT_NAME;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		return SLOT_LINKAGE_NAME;
	case DW_AT_abstract_origin:
		return SLOT_ORIGIN;
	case DW_AT_specification:
		return SLOT_SPECIFICATION;
	case DW_AT_low_pc:
		return SLOT_LOW_PC;
	case DW_AT_high_pc:
		return SLOT_HIGH_PC;
	case DW_AT_ranges:
		return SLOT_RANGES;
	case DW_AT_call_file:
		return SLOT_CALL_FILE;
	case DW_AT_call_line:
		return SLOT_CALL_LINE;
	case DW_AT_call_column:
		return SLOT_CALL_COLUMN;
	default:
		return SLOT_NONE;
	}
}

/* Where the sibling is: BYTES after the steps so far. */
static void note_sibling(struct abbrev *abbrev, uint16_t form, uint32_t bytes, size_t n_steps)
{
	bool within = form == DW_FORM_ref1 || form == DW_FORM_ref2 || form == DW_FORM_ref4 ||
		      form == DW_FORM_ref8;

	if (!within || bytes > INT16_MAX || n_steps > UINT16_MAX)
		return;
	abbrev->sibling = (int16_t)bytes;
	abbrev->sibling_steps = (uint16_t)n_steps;
	abbrev->sibling_size = (uint8_t)(form == DW_FORM_ref1   ? 1
					 : form == DW_FORM_ref2 ? 2
					 : form == DW_FORM_ref4 ? 4
								: 8);
}

static int add_step(struct reading *reading, uint16_t form)
{
	struct abbrev_table *table = reading->table;

	if (array_reserve(&table->steps, reading->n_steps, &reading->size_steps, 64) < 0)
		return -ENOMEM;
	table->steps[reading->n_steps++] =
		(struct abbrev_step){.bytes = (uint16_t)reading->bytes, .form = form};
	reading->bytes = 0;
	return 0;
}

static int add_attr(struct reading *reading, struct abbrev_attr attr)
{
	struct abbrev_table *table = reading->table;

	if (array_reserve(&table->attrs, reading->n_attrs, &reading->size_attrs, 64) < 0)
		return -ENOMEM;
	attr.before = (uint16_t)reading->unread;
	table->attrs[reading->n_attrs++] = attr;
	reading->unread = 0;
	return 0;
}

static void note_kind(struct abbrev *abbrev, uint64_t name)
{
	if (name == DW_AT_low_pc || name == DW_AT_ranges)
		abbrev->has_code = true;
	if (name == DW_AT_name || name == DW_AT_signature)
		abbrev->named = true;
}

/* One attribute: keep it if it is read, and work out how it is passed over. */
static int take_attr(struct reading *reading, struct abbrev *abbrev, bool *ret_last)
{
	struct cursor *cursor = &reading->cursor;
	uint64_t name = cursor_uleb(cursor);
	uint64_t form = cursor_uleb(cursor);
	int64_t implicit = form == DW_FORM_implicit_const ? cursor_signed_leb(cursor) : 0;
	uint8_t slot = slot_of(name);
	int size;

	if (cursor->failed || form > UINT16_MAX || reading->n_seen++ >= ABBREV_MAX_ATTRS)
		return -EBADMSG;
	*ret_last = !name && !form;
	if (*ret_last)
		return 0;
	size = form_size(&reading->table->format, (uint16_t)form);
	if (size == -2)
		return -EBADMSG; /* nothing after it could be found */
	note_kind(abbrev, name);
	if (name == DW_AT_sibling)
		note_sibling(abbrev, (uint16_t)form, reading->bytes,
			     reading->n_steps - abbrev->steps);
	if (size >= 0) {
		reading->bytes += (uint32_t)size;
		abbrev->size += abbrev->size >= 0 ? size : 0;
	} else {
		abbrev->size = -1;
		if (add_step(reading, (uint16_t)form) < 0)
			return -ENOMEM;
	}
	if (size >= 0 && slot == SLOT_NONE) {
		reading->unread += (uint32_t)size;
		return 0;
	}
	return add_attr(
		reading,
		(struct abbrev_attr){.implicit = implicit, .form = (uint16_t)form, .slot = slot});
}

static int take_abbrev(struct reading *reading, uint64_t code)
{
	struct abbrev_table *table = reading->table;
	struct abbrev abbrev = {.code = code,
				.attrs = (uint32_t)reading->n_attrs,
				.steps = (uint32_t)reading->n_steps,
				.sibling = -1};
	uint64_t tag = cursor_uleb(&reading->cursor);
	bool last = false;
	int r;

	abbrev.role = role_of(tag);
	abbrev.children = cursor_u8(&reading->cursor) != 0;
	reading->n_seen = 0;
	while (!last) {
		r = take_attr(reading, &abbrev, &last);
		if (r < 0)
			return r;
	}
	if (add_step(reading, 0) < 0 ||
	    add_attr(reading, (struct abbrev_attr){.slot = SLOT_NONE}) < 0)
		return -ENOMEM;
	if (array_reserve(&table->abbrevs, table->n_abbrevs, &reading->size_abbrevs, 64) < 0)
		return -ENOMEM;
	table->dense = table->dense && code == table->n_abbrevs + 1;
	table->abbrevs[table->n_abbrevs++] = abbrev;
	return 0;
}

static int by_code(const void *left, const void *right)
{
	const struct abbrev *a = left;
	const struct abbrev *b = right;

	return (a->code > b->code) - (a->code < b->code);
}

static int read_table(struct abbrev_table *table, size_t *ret_bytes)
{
	const struct dwarf_bytes *bytes = &table->source->of[DWARF_ABBREV];
	struct reading reading = {
		.table = table,
		.cursor = cursor_over(bytes->data, bytes->len, table->offset, bytes->len)};
	int r = reading.cursor.failed ? -EBADMSG : 0;

	table->dense = true;
	while (r == 0) {
		/* The section's end also ends the table. */
		uint64_t code = cursor_left(&reading.cursor) ? cursor_uleb(&reading.cursor) : 0;

		if (code == 0)
			break;
		r = table->n_abbrevs < ABBREV_MAX_COUNT ? take_abbrev(&reading, code) : -EBADMSG;
	}
	*ret_bytes = sizeof(*table) + reading.size_abbrevs * sizeof(*table->abbrevs) +
		     reading.size_attrs * sizeof(*table->attrs) +
		     reading.size_steps * sizeof(*table->steps);
	if (r == 0 && !table->dense)
		qsort(table->abbrevs, table->n_abbrevs, sizeof(*table->abbrevs), by_code);
	return r;
}

static void table_free(struct abbrev_table *table)
{
	free(table->abbrevs);
	free(table->attrs);
	free(table->steps);
	free(table);
}

static struct abbrev_table **bucket_of(struct abbrev_cache *cache, uint64_t offset)
{
	return &cache->buckets[(offset * 0x9e3779b97f4a7c15ULL) >> 56];
}

static bool same_format(const struct dwarf_format *a, const struct dwarf_format *b)
{
	return a->version == b->version && a->address_size == b->address_size &&
	       a->offset_size == b->offset_size;
}

int abbrevs_get(struct abbrev_cache *cache, const struct dwarf_unit *unit,
		const struct abbrev_table **ret_table)
{
	struct abbrev_table **bucket = bucket_of(cache, unit->abbrev_offset);
	struct abbrev_table *table;
	size_t n_bytes;
	int r;

	for (table = *bucket; table; table = table->next) {
		if (table->source == unit->source && table->offset == unit->abbrev_offset &&
		    same_format(&table->format, &unit->format)) {
			*ret_table = table;
			return 0;
		}
	}
	table = calloc(1, sizeof(*table));
	if (!table)
		return -ENOMEM;
	table->source = unit->source;
	table->offset = unit->abbrev_offset;
	table->format = unit->format;
	r = read_table(table, &n_bytes);
	if (r < 0) {
		table_free(table);
		return r;
	}
	table->next = *bucket;
	*bucket = table;
	cache->n_bytes += n_bytes;
	*ret_table = table;
	return 0;
}

bool abbrevs_full(const struct abbrev_cache *cache)
{
	return cache->n_bytes > ABBREV_CACHE_MAX_BYTES;
}

void abbrevs_release(struct abbrev_cache *cache)
{
	for (size_t i = 0; i < sizeof(cache->buckets) / sizeof(cache->buckets[0]); i++) {
		while (cache->buckets[i]) {
			struct abbrev_table *table = cache->buckets[i];

			cache->buckets[i] = table->next;
			table_free(table);
		}
	}
	cache->n_bytes = 0;
}

const struct abbrev *abbrev_search(const struct abbrev_table *table, uint64_t code)
{
	const struct abbrev key = {.code = code};

	return bsearch(&key, table->abbrevs, table->n_abbrevs, sizeof(key), by_code);
}

/* The first values that most entries have, without the detours of form_read(). */
static inline bool read_common(struct cursor *cursor, const struct dwarf_format *format,
			       uint16_t form, struct form_value *value)
{
	switch (form) {
	case DW_FORM_addr:
		value->class = FORM_ADDRESS;
		value->number = cursor_unsigned(cursor, format->address_size);
		return true;
	case DW_FORM_strp:
		value->class = FORM_STRP;
		value->number = cursor_unsigned(cursor, format->offset_size);
		return true;
	case DW_FORM_sec_offset:
		value->class = FORM_OFFSET;
		value->number = cursor_unsigned(cursor, format->offset_size);
		return true;
	case DW_FORM_ref4:
		value->class = FORM_REF_UNIT;
		value->number = cursor_u32(cursor);
		return true;
	case DW_FORM_data1:
		value->class = FORM_CONSTANT;
		value->number = cursor_u8(cursor);
		return true;
	case DW_FORM_data2:
		value->class = FORM_CONSTANT;
		value->number = cursor_u16(cursor);
		return true;
	case DW_FORM_data4:
		value->class = FORM_CONSTANT;
		value->number = cursor_u32(cursor);
		return true;
	case DW_FORM_udata:
		value->class = FORM_CONSTANT;
		value->number = cursor_uleb(cursor);
		return true;
	case DW_FORM_data8:
		value->class = FORM_CONSTANT;
		value->number = cursor_u64(cursor);
		return true;
	default:
		return false;
	}
}

void die_read(struct cursor *cursor, const struct die_unit *unit, const struct abbrev *abbrev,
	      struct die_values *ret_values)
{
	const struct dwarf_format *format = &unit->unit.format;
	const struct abbrev_attr *attr = unit->abbrevs->attrs + abbrev->attrs;

	ret_values->present = 0;
	for (;; attr++) {
		(void)cursor_skip(cursor, attr->before);
		if (attr->slot == SLOT_NONE) {
			if (!attr->form)
				return;
			form_skip(cursor, format, attr->form);
			continue;
		}
		if (attr->form == DW_FORM_implicit_const)
			ret_values->of[attr->slot] = (struct form_value){
				.class = FORM_CONSTANT, .number = (uint64_t)attr->implicit};
		else if (!read_common(cursor, format, attr->form, &ret_values->of[attr->slot]))
			form_read(cursor, format, attr->form, attr->implicit,
				  &ret_values->of[attr->slot]);
		ret_values->present |= 1U << attr->slot;
	}
}

bool die_pass_children(struct cursor *cursor, const struct die_unit *unit, size_t most)
{
	unsigned depth = 1;

	for (size_t n = 0; n < most && !cursor->failed && !loader_is_stopping(); n++) {
		const struct abbrev *abbrev = die_begin(unit, cursor);

		if (abbrev)
			depth += die_jump(cursor, unit, abbrev);
		else if (--depth == 0)
			return !cursor->failed;
	}
	return false;
}

bool die_pc_range(const struct die_unit *unit, const struct die_values *values, uint64_t *ret_lo,
		  uint64_t *ret_hi)
{
	const struct form_value *high = &values->of[SLOT_HIGH_PC];
	uint64_t lo;
	uint64_t hi;

	if (!die_has(values, SLOT_LOW_PC) || !die_has(values, SLOT_HIGH_PC))
		return false;
	if (!form_address(&unit->unit, &values->of[SLOT_LOW_PC], &lo))
		return false;
	if (high->class == FORM_CONSTANT) {
		if (__builtin_add_overflow(lo, high->number, &hi))
			return false;
	} else if (!form_address(&unit->unit, high, &hi)) {
		return false;
	}
	if (lo <= 1 || lo >= hi || lo >= UINT64_MAX - 1)
		return false;
	*ret_lo = lo;
	*ret_hi = hi;
	return true;
}

int die_each_range(const struct die_unit *unit, const struct die_values *values, uint64_t *left,
		   int (*callback)(void *context, uint64_t lo, uint64_t hi), void *context)
{
	uint64_t lo;
	uint64_t hi;

	if (die_has(values, SLOT_RANGES))
		return ranges_each_of(&unit->unit, &values->of[SLOT_RANGES], left, callback,
				      context);
	if (die_pc_range(unit, values, &lo, &hi))
		return callback(context, lo, hi);
	return 0;
}
