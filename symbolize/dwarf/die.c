/* die.c - the attributes of an entry */
#include "symbolize/dwarf/die.h"

#include "symbolize/bounds/loader.h"
#include "symbolize/dwarf/ranges.h"

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
