/* unit.c - unit headers (7.5.1) and their root entries (3.1) */
#include "symbolize/dwarf/unit.h"

#include <dwarf.h>
#include <errno.h>

/* The attributes of a root entry that are of use, as they stand. */
struct root {
	struct form_value str_offsets_base, addr_base, rnglists_base, ranges_base;
	struct form_value low_pc, high_pc, ranges, stmt_list, dwo_id, language;
	struct form_value comp_dir, name, dwo_name, producer;
};

uint64_t unit_next(const struct dwarf_source *source, uint64_t offset)
{
	const struct dwarf_bytes *info = &source->of[DWARF_INFO];
	struct cursor cursor = cursor_over(info->data, info->len, offset, info->len);
	uint8_t offset_size;
	uint64_t len = cursor_initial_length(&cursor, &offset_size);

	if (cursor.failed)
		return 0;
	return (uint64_t)(cursor.at - info->data) + len;
}

static bool read_type_and_sizes(struct cursor *cursor, struct dwarf_unit *unit)
{
	struct dwarf_format *format = &unit->format;

	if (format->version >= 5) {
		unit->type = cursor_u8(cursor);
		format->address_size = cursor_u8(cursor);
		unit->abbrev_offset = cursor_unsigned(cursor, format->offset_size);
	} else {
		unit->type = UNIT_COMPILE;
		unit->abbrev_offset = cursor_unsigned(cursor, format->offset_size);
		format->address_size = cursor_u8(cursor);
	}
	return !cursor->failed && (format->address_size == 8 || format->address_size == 4);
}

static bool read_type_fields(struct cursor *cursor, struct dwarf_unit *unit)
{
	switch (unit->type) {
	case UNIT_COMPILE:
	case UNIT_PARTIAL:
		return true;
	case UNIT_SKELETON:
	case UNIT_SPLIT_COMPILE:
		unit->dwo_id = cursor_u64(cursor);
		unit->has_dwo_id = true;
		return !cursor->failed;
	case UNIT_TYPE:
	case UNIT_SPLIT_TYPE:
		(void)cursor_u64(cursor); /* signature, and where the type is */
		(void)cursor_unsigned(cursor, unit->format.offset_size);
		return !cursor->failed;
	default:
		return false;
	}
}

/* The header; leaves a cursor at the root entry that ends where the unit does. */
static bool read_header(struct dwarf_unit *unit, struct cursor *ret_cursor)
{
	const struct dwarf_bytes *info = &unit->source->of[DWARF_INFO];
	struct cursor cursor = cursor_over(info->data, info->len, unit->offset, info->len);
	uint64_t len = cursor_initial_length(&cursor, &unit->format.offset_size);

	if (cursor.failed)
		return false;
	cursor.end = cursor.at + len;
	unit->end = (uint64_t)(cursor.end - info->data);
	unit->format.version = cursor_u16(&cursor);
	if (unit->format.version < 2 || unit->format.version > 5)
		return false;
	if (!read_type_and_sizes(&cursor, unit) || !read_type_fields(&cursor, unit))
		return false;
	unit->root = (uint64_t)(cursor.at - info->data);
	*ret_cursor = cursor;
	return true;
}

static void skip_specifications(struct cursor *cursor)
{
	uint64_t name;
	uint64_t form;

	do {
		name = cursor_uleb(cursor);
		form = cursor_uleb(cursor);
		if (form == DW_FORM_implicit_const)
			cursor_uleb_skip(cursor);
	} while (!cursor->failed && (name || form));
}

/* 7.5.3; the root's is nearly always the first.  Leaves the cursor at its specifications. */
static bool find_abbrev(struct dwarf_unit *unit, uint64_t code, struct cursor *ret_cursor)
{
	const struct dwarf_bytes *abbrev = &unit->source->of[DWARF_ABBREV];
	struct cursor cursor =
		cursor_over(abbrev->data, abbrev->len, unit->abbrev_offset, abbrev->len);

	while (!cursor.failed) {
		uint64_t found = cursor_uleb(&cursor);

		if (found == 0)
			return false;
		unit->tag = (uint16_t)cursor_uleb(&cursor);
		unit->has_children = cursor_u8(&cursor) != 0;
		if (found == code) {
			*ret_cursor = cursor;
			return !cursor.failed;
		}
		skip_specifications(&cursor);
	}
	return false;
}

static struct form_value *slot_of(struct root *root, uint64_t name)
{
	switch (name) {
	case DW_AT_str_offsets_base:
		return &root->str_offsets_base;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		return &root->addr_base;
	case DW_AT_rnglists_base:
		return &root->rnglists_base;
	case DW_AT_GNU_ranges_base:
		return &root->ranges_base;
	case DW_AT_low_pc:
		return &root->low_pc;
	case DW_AT_high_pc:
		return &root->high_pc;
	case DW_AT_ranges:
		return &root->ranges;
	case DW_AT_stmt_list:
		return &root->stmt_list;
	case DW_AT_GNU_dwo_id:
		return &root->dwo_id;
	case DW_AT_language:
		return &root->language;
	case DW_AT_comp_dir:
		return &root->comp_dir;
	case DW_AT_name:
		return &root->name;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		return &root->dwo_name;
	case DW_AT_producer:
		return &root->producer;
	default:
		return NULL;
	}
}

static bool read_attributes(const struct dwarf_unit *unit, struct cursor *cursor,
			    struct cursor *abbrev, struct root *root)
{
	for (size_t n = 0; n < UNIT_MAX_ROOT_ATTRS; n++) {
		uint64_t name = cursor_uleb(abbrev);
		uint64_t form = cursor_uleb(abbrev);
		int64_t implicit = form == DW_FORM_implicit_const ? cursor_signed_leb(abbrev) : 0;
		struct form_value *slot = slot_of(root, name);

		if (abbrev->failed || cursor->failed || form > UINT16_MAX)
			return false;
		if (!name && !form)
			return true;
		if (slot)
			form_read(cursor, &unit->format, (uint16_t)form, implicit, slot);
		else
			form_skip(cursor, &unit->format, (uint16_t)form);
	}
	return false;
}

static const char *text_of(const struct dwarf_unit *unit, const struct form_value *value)
{
	const char *text = form_string(unit, value);

	return text ? text : "";
}

/* Strings and addresses may need bases that come after them. */
static void take_bases(struct dwarf_unit *unit, const struct root *root)
{
	uint64_t wide = unit->format.offset_size == 8;

	/* 7.26, 7.28: split units begin after the header of the section. */
	if (unit->format.version >= 5) {
		unit->str_offsets_base = wide ? 16 : 8;
		unit->addr_base = wide ? 16 : 8;
		unit->rnglists_base = wide ? 20 : 12;
	}
	if (root->str_offsets_base.class != FORM_NONE)
		unit->str_offsets_base = root->str_offsets_base.number;
	if (root->addr_base.class != FORM_NONE)
		unit->addr_base = root->addr_base.number;
	if (root->rnglists_base.class != FORM_NONE)
		unit->rnglists_base = root->rnglists_base.number;
	unit->ranges_base = root->ranges_base.number;
}

static void take_root(struct dwarf_unit *unit, const struct root *root)
{
	take_bases(unit, root);
	unit->ranges = root->ranges;
	unit->language = (uint16_t)root->language.number;
	unit->has_stmt_list = root->stmt_list.class != FORM_NONE;
	unit->stmt_list = root->stmt_list.number;
	if (root->dwo_id.class != FORM_NONE) {
		unit->has_dwo_id = true;
		unit->dwo_id = root->dwo_id.number;
	}
	unit->comp_dir = text_of(unit, &root->comp_dir);
	unit->name = text_of(unit, &root->name);
	unit->dwo_name = text_of(unit, &root->dwo_name);
	unit->producer = text_of(unit, &root->producer);
	if (!form_address(unit, &root->low_pc, &unit->low_pc))
		unit->low_pc = 0;
	if (form_address(unit, &root->high_pc, &unit->high_pc))
		return;
	unit->high_pc = 0;
	if (root->high_pc.class == FORM_CONSTANT && unit->low_pc)
		(void)__builtin_add_overflow(unit->low_pc, root->high_pc.number, &unit->high_pc);
}

int unit_read(const struct dwarf_source *source, uint64_t offset, struct dwarf_unit *ret_unit)
{
	struct dwarf_unit unit = {.source = source, .offset = offset};
	struct root root = {.ranges = {.class = FORM_NONE}};
	struct cursor cursor;
	struct cursor abbrev;
	uint64_t code;

	unit.comp_dir = unit.name = unit.dwo_name = unit.producer = "";
	if (!read_header(&unit, &cursor))
		return -EBADMSG;
	code = cursor_left(&cursor) ? cursor_uleb(&cursor) : 0;
	if (code) {
		if (!find_abbrev(&unit, code, &abbrev) ||
		    !read_attributes(&unit, &cursor, &abbrev, &root) || cursor.failed)
			return -EBADMSG;
	}
	take_root(&unit, &root);
	*ret_unit = unit;
	return 0;
}

void unit_take_skeleton(struct dwarf_unit *split, const struct dwarf_unit *skeleton)
{
	split->addr_base = skeleton->addr_base;
	split->ranges_base = skeleton->ranges_base;
	split->low_pc = skeleton->low_pc;
	split->high_pc = skeleton->high_pc;
	split->has_stmt_list = skeleton->has_stmt_list;
	split->stmt_list = skeleton->stmt_list;
	split->comp_dir = skeleton->comp_dir;
}
