/*
 * die.h - debugging information entries: pass over them, read the attributes that matter (2.2)
 *
 * Passing over is the hottest loop there is: it stands in the header.
 */
#ifndef DWARF_DIE_H
#define DWARF_DIE_H

#include "symbolize/bounds/cursor.h"
#include "symbolize/dwarf/abbrev.h"
#include "symbolize/dwarf/unit.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdint.h>

enum { DIE_MAX_DEPTH = 1024 };

/* A unit whose entries can be read. */
struct die_unit {
	struct dwarf_unit unit;
	const struct abbrev_table *abbrevs;
};

/* What an entry has of the attributes in enum attr_slot. */
struct die_values {
	uint32_t present; /* a bit a slot */
	struct form_value of[N_SLOTS];
};

/**
 * die_has - does the entry have it?
 *
 * Context: any thread, as for all of these.
 */
static inline bool die_has(const struct die_values *values, enum attr_slot slot)
{
	return (values->present >> slot) & 1;
}

/**
 * die_cursor - a cursor at OFFSET of .debug_info that ends where the unit does
 *
 * Return:  it; a failed one: the offset is not within the unit's entries.
 * Context: any thread.
 */
static inline struct cursor die_cursor(const struct die_unit *unit, uint64_t offset)
{
	const struct dwarf_bytes *info = &unit->unit.source->of[DWARF_INFO];

	if (offset < unit->unit.root)
		return (struct cursor){.failed = true};
	return cursor_over(info->data, info->len, offset, unit->unit.end);
}

/**
 * die_offset - where a cursor stands in .debug_info
 *
 * Context: any thread.
 */
static inline uint64_t die_offset(const struct die_unit *unit, const struct cursor *cursor)
{
	return (uint64_t)(cursor->at - unit->unit.source->of[DWARF_INFO].data);
}

/**
 * die_begin - the abbreviation of the entry at the cursor; its attributes come next
 *
 * Return:  NULL: it is a null entry, which ends siblings; or none can be read and the cursor has
 *          failed.
 * Context: any thread.
 */
static inline const struct abbrev *die_begin(const struct die_unit *unit, struct cursor *cursor)
{
	uint64_t code = cursor_uleb(cursor);
	const struct abbrev *abbrev;

	if (code == 0)
		return NULL;
	abbrev = abbrev_of(unit->abbrevs, code);
	if (__builtin_expect(!abbrev, 0))
		cursor_fail(cursor);
	return abbrev;
}

/**
 * die_step - pass over a step's bytes and its value
 *
 * Context: any thread.
 */
static inline void die_step(struct cursor *cursor, const struct dwarf_format *format,
			    const struct abbrev_step *step)
{
	(void)cursor_skip(cursor, step->bytes);
	switch (step->form) {
	case DW_FORM_exprloc:
	case DW_FORM_block:
		(void)cursor_skip(cursor, cursor_uleb(cursor));
		break;
	case DW_FORM_block1:
		(void)cursor_skip(cursor, cursor_u8(cursor));
		break;
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
		cursor_uleb_skip(cursor);
		break;
	default:
		form_skip(cursor, format, step->form);
	}
}

/**
 * die_skip - pass over an entry's attributes
 *
 * Context: any thread.
 */
static inline void die_skip(struct cursor *cursor, const struct die_unit *unit,
			    const struct abbrev *abbrev)
{
	const struct abbrev_step *step;

	if (__builtin_expect(abbrev->size >= 0, 1)) {
		(void)cursor_skip(cursor, (uint64_t)abbrev->size);
		return;
	}
	for (step = unit->abbrevs->steps + abbrev->steps; step->form && !cursor->failed; step++)
		die_step(cursor, &unit->unit.format, step);
	(void)cursor_skip(cursor, step->bytes);
}

/**
 * die_jump - pass over an entry's attributes, and its children where DW_AT_sibling says how
 *
 * A sibling that does not lead forwards and stays within the unit fails the cursor.
 *
 * Return:  whether children come next that have to be passed over.
 * Context: any thread.
 */
static inline bool die_jump(struct cursor *cursor, const struct die_unit *unit,
			    const struct abbrev *abbrev)
{
	const struct abbrev_step *steps = unit->abbrevs->steps + abbrev->steps;
	const uint8_t *to;
	uint64_t sibling;

	if (!abbrev->children || abbrev->sibling < 0) {
		die_skip(cursor, unit, abbrev);
		return abbrev->children;
	}
	for (unsigned i = 0; i < abbrev->sibling_steps; i++)
		die_step(cursor, &unit->unit.format, &steps[i]);
	(void)cursor_skip(cursor, (uint64_t)abbrev->sibling);
	sibling = cursor_unsigned(cursor, abbrev->sibling_size);
	if (sibling > unit->unit.end - unit->unit.offset) {
		cursor_fail(cursor);
		return false;
	}
	to = unit->unit.source->of[DWARF_INFO].data + unit->unit.offset + sibling;
	if (to < cursor->at || to > cursor->end)
		cursor_fail(cursor);
	else
		cursor->at = to;
	return false;
}

/**
 * die_read - the attributes in enum attr_slot; passes over the others
 *
 * Context: any thread.
 */
void die_read(struct cursor *cursor, const struct die_unit *unit, const struct abbrev *abbrev,
	      struct die_values *ret_values);

/**
 * die_pass_children - pass over what is between here and the null entry that ends siblings
 * @most: entries
 *
 * Return:  whether that was all; false: there are more, or the cursor failed.
 * Context: any thread.
 */
bool die_pass_children(struct cursor *cursor, const struct die_unit *unit, size_t most);

/**
 * die_pc_range - DW_AT_low_pc and DW_AT_high_pc as addresses (2.17.2)
 *
 * Return:  false: it does not have both, or they cover nothing, or the low one is the mark of code
 *          that the linker threw away.
 * Context: any thread.
 */
bool die_pc_range(const struct die_unit *unit, const struct die_values *values, uint64_t *ret_lo,
		  uint64_t *ret_hi);

/**
 * die_each_range - call for every range of code that an entry has
 * @left: entries of lists that may still be read (ranges_each_of())
 *
 * Return:  0; what the callback returned; -EBADMSG.
 * Context: any thread.
 */
int die_each_range(const struct die_unit *unit, const struct die_values *values, uint64_t *left,
		   int (*callback)(void *context, uint64_t lo, uint64_t hi), void *context);

#endif
