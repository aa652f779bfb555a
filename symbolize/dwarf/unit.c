/* unit.c - unit headers (7.5.1), their root entries (3.1), and the encodings of attributes' values
 * (DWARF 5: 7.5.5, 7.5.6; table 7.6) */
#include "symbolize/dwarf/unit.h"

#include <dwarf.h>
#include <errno.h>

/* How many bytes a value has, or how to find out. */
enum shape {
	SHAPE_NONE, /* no such form */
	SHAPE_BYTES,
	SHAPE_ADDRESS,
	SHAPE_OFFSET,
	SHAPE_REF_ADDR, /* an address in DWARF 2, an offset since */
	SHAPE_ULEB,
	SHAPE_SLEB,
	SHAPE_STRING,
	SHAPE_BLOCK, /* after a length of so many bytes */
	SHAPE_BLOCK_ULEB,
	SHAPE_INDIRECT,
	SHAPE_IMPLICIT,
};

struct form_kind {
	uint8_t shape;
	uint8_t bytes;
	uint8_t class;
};

static const struct form_kind kinds[] = {
	[DW_FORM_addr] = {SHAPE_ADDRESS, 0, FORM_ADDRESS},
	[DW_FORM_block2] = {SHAPE_BLOCK, 2, FORM_BLOCK},
	[DW_FORM_block4] = {SHAPE_BLOCK, 4, FORM_BLOCK},
	[DW_FORM_data2] = {SHAPE_BYTES, 2, FORM_CONSTANT},
	[DW_FORM_data4] = {SHAPE_BYTES, 4, FORM_CONSTANT},
	[DW_FORM_data8] = {SHAPE_BYTES, 8, FORM_CONSTANT},
	[DW_FORM_string] = {SHAPE_STRING, 0, FORM_STRING},
	[DW_FORM_block] = {SHAPE_BLOCK_ULEB, 0, FORM_BLOCK},
	[DW_FORM_block1] = {SHAPE_BLOCK, 1, FORM_BLOCK},
	[DW_FORM_data1] = {SHAPE_BYTES, 1, FORM_CONSTANT},
	[DW_FORM_flag] = {SHAPE_BYTES, 1, FORM_CONSTANT},
	[DW_FORM_sdata] = {SHAPE_SLEB, 0, FORM_CONSTANT},
	[DW_FORM_strp] = {SHAPE_OFFSET, 0, FORM_STRP},
	[DW_FORM_udata] = {SHAPE_ULEB, 0, FORM_CONSTANT},
	[DW_FORM_ref_addr] = {SHAPE_REF_ADDR, 0, FORM_REF_INFO},
	[DW_FORM_ref1] = {SHAPE_BYTES, 1, FORM_REF_UNIT},
	[DW_FORM_ref2] = {SHAPE_BYTES, 2, FORM_REF_UNIT},
	[DW_FORM_ref4] = {SHAPE_BYTES, 4, FORM_REF_UNIT},
	[DW_FORM_ref8] = {SHAPE_BYTES, 8, FORM_REF_UNIT},
	[DW_FORM_ref_udata] = {SHAPE_ULEB, 0, FORM_REF_UNIT},
	[DW_FORM_indirect] = {SHAPE_INDIRECT, 0, FORM_NONE},
	[DW_FORM_sec_offset] = {SHAPE_OFFSET, 0, FORM_OFFSET},
	[DW_FORM_exprloc] = {SHAPE_BLOCK_ULEB, 0, FORM_BLOCK},
	[DW_FORM_flag_present] = {SHAPE_BYTES, 0, FORM_CONSTANT},
	[DW_FORM_strx] = {SHAPE_ULEB, 0, FORM_STRING_INDEX},
	[DW_FORM_addrx] = {SHAPE_ULEB, 0, FORM_ADDRESS_INDEX},
	[DW_FORM_ref_sup4] = {SHAPE_BYTES, 4, FORM_REF_ALT},
	[DW_FORM_strp_sup] = {SHAPE_OFFSET, 0, FORM_STRP_ALT},
	[DW_FORM_data16] = {SHAPE_BYTES, 16, FORM_BLOCK},
	[DW_FORM_line_strp] = {SHAPE_OFFSET, 0, FORM_LINE_STRP},
	[DW_FORM_ref_sig8] = {SHAPE_BYTES, 8, FORM_SIGNATURE},
	[DW_FORM_implicit_const] = {SHAPE_IMPLICIT, 0, FORM_CONSTANT},
	[DW_FORM_loclistx] = {SHAPE_ULEB, 0, FORM_LIST_INDEX},
	[DW_FORM_rnglistx] = {SHAPE_ULEB, 0, FORM_LIST_INDEX},
	[DW_FORM_ref_sup8] = {SHAPE_BYTES, 8, FORM_REF_ALT},
	[DW_FORM_strx1] = {SHAPE_BYTES, 1, FORM_STRING_INDEX},
	[DW_FORM_strx2] = {SHAPE_BYTES, 2, FORM_STRING_INDEX},
	[DW_FORM_strx3] = {SHAPE_BYTES, 3, FORM_STRING_INDEX},
	[DW_FORM_strx4] = {SHAPE_BYTES, 4, FORM_STRING_INDEX},
	[DW_FORM_addrx1] = {SHAPE_BYTES, 1, FORM_ADDRESS_INDEX},
	[DW_FORM_addrx2] = {SHAPE_BYTES, 2, FORM_ADDRESS_INDEX},
	[DW_FORM_addrx3] = {SHAPE_BYTES, 3, FORM_ADDRESS_INDEX},
	[DW_FORM_addrx4] = {SHAPE_BYTES, 4, FORM_ADDRESS_INDEX},
};

/* The extensions of split DWARF 4 and of dwz. */
static struct form_kind extension_of(uint16_t form)
{
	switch (form) {
	case DW_FORM_GNU_addr_index:
		return (struct form_kind){SHAPE_ULEB, 0, FORM_ADDRESS_INDEX};
	case DW_FORM_GNU_str_index:
		return (struct form_kind){SHAPE_ULEB, 0, FORM_STRING_INDEX};
	case DW_FORM_GNU_ref_alt:
		return (struct form_kind){SHAPE_OFFSET, 0, FORM_REF_ALT};
	case DW_FORM_GNU_strp_alt:
		return (struct form_kind){SHAPE_OFFSET, 0, FORM_STRP_ALT};
	default:
		return (struct form_kind){SHAPE_NONE, 0, FORM_NONE};
	}
}

static inline struct form_kind kind_of(uint16_t form)
{
	return form < sizeof(kinds) / sizeof(kinds[0]) ? kinds[form] : extension_of(form);
}

static inline int size_of(const struct dwarf_format *format, struct form_kind kind)
{
	switch (kind.shape) {
	case SHAPE_BYTES:
		return kind.bytes;
	case SHAPE_ADDRESS:
		return format->address_size;
	case SHAPE_OFFSET:
		return format->offset_size;
	case SHAPE_REF_ADDR:
		return format->version <= 2 ? format->address_size : format->offset_size;
	case SHAPE_IMPLICIT:
		return 0;
	case SHAPE_NONE:
		return -2;
	default:
		return -1;
	}
}

int form_size(const struct dwarf_format *format, uint16_t form)
{
	return size_of(format, kind_of(form));
}

void form_skip(struct cursor *cursor, const struct dwarf_format *format, uint16_t form)
{
	struct form_kind kind = kind_of(form);
	int size = size_of(format, kind);

	if (kind.shape == SHAPE_INDIRECT) {
		kind = kind_of((uint16_t)cursor_uleb(cursor));
		size = size_of(format, kind);
	}
	if (size >= 0) {
		(void)cursor_skip(cursor, (uint64_t)size);
		return;
	}
	switch (kind.shape) {
	case SHAPE_ULEB:
	case SHAPE_SLEB:
		cursor_uleb_skip(cursor);
		return;
	case SHAPE_STRING:
		(void)cursor_string(cursor);
		return;
	case SHAPE_BLOCK:
		(void)cursor_skip(cursor, cursor_unsigned(cursor, kind.bytes));
		return;
	case SHAPE_BLOCK_ULEB:
		(void)cursor_skip(cursor, cursor_uleb(cursor));
		return;
	default:
		cursor_fail(cursor);
	}
}

static void read_block(struct cursor *cursor, uint64_t len, struct form_value *value)
{
	value->number = len;
	value->block = cursor_skip(cursor, len);
}

static void read_sized(struct cursor *cursor, int size, struct form_value *value)
{
	if (size == 0)
		value->number = 1; /* DW_FORM_flag_present */
	else if (size == 16)
		read_block(cursor, 16, value);
	else
		value->number = cursor_unsigned(cursor, (size_t)size);
}

static void read_shape(struct cursor *cursor, struct form_kind kind, struct form_value *value)
{
	switch (kind.shape) {
	case SHAPE_ULEB:
		value->number = cursor_uleb(cursor);
		break;
	case SHAPE_SLEB:
		value->number = (uint64_t)cursor_signed_leb(cursor);
		break;
	case SHAPE_STRING:
		value->text = cursor_string(cursor);
		break;
	case SHAPE_BLOCK:
		read_block(cursor, cursor_unsigned(cursor, kind.bytes), value);
		break;
	case SHAPE_BLOCK_ULEB:
		read_block(cursor, cursor_uleb(cursor), value);
		break;
	default:
		cursor_fail(cursor);
	}
}

void form_read(struct cursor *cursor, const struct dwarf_format *format, uint16_t form,
	       int64_t implicit, struct form_value *ret_value)
{
	struct form_kind kind = kind_of(form);
	int size;

	if (kind.shape == SHAPE_INDIRECT)
		kind = kind_of((uint16_t)cursor_uleb(cursor));
	ret_value->class = (enum form_class)kind.class;
	size = size_of(format, kind);
	if (kind.shape == SHAPE_IMPLICIT)
		ret_value->number = (uint64_t)implicit;
	else if (size >= 0)
		read_sized(cursor, size, ret_value);
	else
		read_shape(cursor, kind, ret_value);
	if (cursor->failed)
		*ret_value = (struct form_value){.class = FORM_NONE};
}

static const char *string_at(const struct dwarf_bytes *bytes, uint64_t offset)
{
	if (offset >= bytes->len || !memchr(bytes->data + offset, 0, bytes->len - offset))
		return NULL;
	return (const char *)bytes->data + offset;
}

/* 7.26: an array of offsets in .debug_str. */
static const char *string_indexed(const struct dwarf_unit *unit, uint64_t index)
{
	const struct dwarf_bytes *offsets = &unit->source->of[DWARF_STR_OFFSETS];
	uint64_t size = unit->format.offset_size;
	struct cursor cursor;
	uint64_t offset;

	if (unit->str_offsets_base > offsets->len ||
	    index >= (offsets->len - unit->str_offsets_base) / size)
		return NULL;
	cursor = cursor_over(offsets->data, offsets->len, unit->str_offsets_base + index * size,
			     offsets->len);
	offset = cursor_unsigned(&cursor, size);
	return cursor.failed ? NULL : string_at(&unit->source->of[DWARF_STR], offset);
}

const char *form_string(const struct dwarf_unit *unit, const struct form_value *value)
{
	const struct dwarf_source *source = unit->source;

	switch (value->class) {
	case FORM_STRING:
		return value->text;
	case FORM_STRP:
		return string_at(&source->of[DWARF_STR], value->number);
	case FORM_LINE_STRP:
		return string_at(&source->of[DWARF_LINE_STR], value->number);
	case FORM_STRING_INDEX:
		return string_indexed(unit, value->number);
	case FORM_STRP_ALT:
		return source->alt ? string_at(&source->alt->of[DWARF_STR], value->number) : NULL;
	default:
		return NULL;
	}
}

bool form_indexed_address(const struct dwarf_unit *unit, uint64_t index, uint64_t *ret_address)
{
	const struct dwarf_bytes *addr = &unit->source->of[DWARF_ADDR];
	uint64_t size = unit->format.address_size;
	struct cursor cursor;

	if (unit->addr_base > addr->len || index >= (addr->len - unit->addr_base) / size)
		return false;
	cursor = cursor_over(addr->data, addr->len, unit->addr_base + index * size, addr->len);
	*ret_address = cursor_unsigned(&cursor, size);
	return !cursor.failed;
}

bool form_address(const struct dwarf_unit *unit, const struct form_value *value,
		  uint64_t *ret_address)
{
	if (value->class == FORM_ADDRESS_INDEX)
		return form_indexed_address(unit, value->number, ret_address);
	if (value->class != FORM_ADDRESS)
		return false;
	*ret_address = value->number;
	return true;
}

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
