/*
 * die.h - debugging information entries: pass over them, read the attributes that matter (2.2); and
 * their abbreviations, prepared for that (7.5.3)
 *
 * Most entries of .debug_info are of no interest. Each abbreviation knows how to be passed over: by
 * a number of bytes where all its forms are of fixed size, else in steps of which each is so many
 * bytes and then one value of varying size. This is the hottest loop, so it is in the header.
 *
 * Context: any thread, unless a function says otherwise.
 */
#ifndef DWARF_DIE_H
#define DWARF_DIE_H

#include "symbolize/bounds/cursor.h"
#include "symbolize/dwarf/unit.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	ABBREV_MAX_COUNT = 128 * 1024, /* of a table */
	ABBREV_MAX_ATTRS = 1024,       /* of an abbreviation */
	ABBREV_CACHE_MAX_BYTES = 16 * 1024 * 1024,
};

/* What an entry is to us. */
enum abbrev_role {
	ROLE_OTHER,
	ROLE_NAMESPACE, /* and modules: walked into for functions */
	ROLE_CLASS,     /* names what is in it, and functions may be in it */
	ROLE_SUBPROGRAM,
	ROLE_INLINED,
	ROLE_BLOCK, /* lexical blocks and others that inlined calls may be in */
};

/* The attributes that are ever read; the others are passed over. */
enum attr_slot {
	SLOT_NAME,
	SLOT_LINKAGE_NAME,
	SLOT_ORIGIN, /* DW_AT_abstract_origin */
	SLOT_SPECIFICATION,
	SLOT_LOW_PC,
	SLOT_HIGH_PC,
	SLOT_RANGES,
	SLOT_CALL_FILE,
	SLOT_CALL_LINE,
	SLOT_CALL_COLUMN,
	N_SLOTS,
	SLOT_NONE = N_SLOTS,
};

/* An attribute that is read, or one of varying size; SLOT_NONE and form 0: that was all. */
struct abbrev_attr {
	int64_t implicit; /* the value of a DW_FORM_implicit_const */
	uint16_t form;
	uint16_t before; /* bytes of others between the last one and this */
	uint8_t slot;    /* enum attr_slot */
};

/* Pass over so many bytes, then over a value of that form; form 0: that was all. */
struct abbrev_step {
	uint16_t bytes;
	uint16_t form;
};

struct abbrev {
	uint64_t code;
	uint32_t attrs;  /* index of the first */
	uint32_t steps;  /* index of the first */
	int32_t size;    /* bytes of all attributes; -1: see the steps */
	int16_t sibling; /* bytes before DW_AT_sibling after so many steps; -1: has none */
	uint16_t sibling_steps;
	uint8_t sibling_size; /* bytes of it, a reference within the unit */
	uint8_t role;         /* enum abbrev_role */
	bool children;
	bool has_code; /* low_pc or ranges */
	bool named;    /* DW_AT_name, or the signature of a type that has it */
};

struct abbrev_table {
	const struct dwarf_source *source;
	uint64_t offset;
	struct dwarf_format format;
	struct abbrev_table *next; /* of the same hash */
	struct abbrev *abbrevs;    /* by code */
	struct abbrev_attr *attrs;
	struct abbrev_step *steps;
	size_t n_abbrevs;
	bool dense; /* codes are 1, 2, 3, ... */
};

/* Zero is empty. */
struct abbrev_cache {
	struct abbrev_table *buckets[256];
	size_t n_bytes;
};

/** abbrev_search - abbrev_of() where codes have gaps; call that */
const struct abbrev *abbrev_search(const struct abbrev_table *table, uint64_t code);

/**
 * abbrev_of - the abbreviation with a code
 *
 * Return:  NULL: there is none.
 * Owns:    the table.
 */
static inline const struct abbrev *abbrev_of(const struct abbrev_table *table, uint64_t code)
{
	if (__builtin_expect(!table->dense, 0))
		return abbrev_search(table, code);
	return code - 1 < table->n_abbrevs ? &table->abbrevs[code - 1] : NULL;
}

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

/** die_has - does the entry have it? */
static inline bool die_has(const struct die_values *values, enum attr_slot slot)
{
	return (values->present >> slot) & 1;
}

/**
 * die_cursor - a cursor at OFFSET of .debug_info that ends where the unit does
 *
 * Return:  it; a failed one: the offset is not within the unit's entries.
 */
static inline struct cursor die_cursor(const struct die_unit *unit, uint64_t offset)
{
	const struct dwarf_bytes *info = &unit->unit.source->of[DWARF_INFO];

	if (offset < unit->unit.root)
		return (struct cursor){.failed = true};
	return cursor_over(info->data, info->len, offset, unit->unit.end);
}

/** die_offset - where a cursor stands in .debug_info */
static inline uint64_t die_offset(const struct die_unit *unit, const struct cursor *cursor)
{
	return (uint64_t)(cursor->at - unit->unit.source->of[DWARF_INFO].data);
}

/**
 * die_begin - the abbreviation of the entry at the cursor; its attributes come next
 *
 * Return:  NULL: it is a null entry, which ends siblings; or none can be read and the cursor has
 *          failed.
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

/** die_step - pass over a step's bytes and its value */
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

/** die_skip - pass over an entry's attributes */
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

/** die_read - the attributes in enum attr_slot; passes over the others */
void die_read(struct cursor *cursor, const struct die_unit *unit, const struct abbrev *abbrev,
	      struct die_values *ret_values);

/**
 * die_pass_children - pass over what is between here and the null entry that ends siblings
 * @most: entries
 *
 * Return:  whether that was all; false: there are more, or the cursor failed.
 */
bool die_pass_children(struct cursor *cursor, const struct die_unit *unit, size_t most);

/**
 * die_pc_range - DW_AT_low_pc and DW_AT_high_pc as addresses (2.17.2)
 *
 * Return:  false: it does not have both, or they cover nothing, or the low one is the mark of code
 *          that the linker threw away.
 */
bool die_pc_range(const struct die_unit *unit, const struct die_values *values, uint64_t *ret_lo,
		  uint64_t *ret_hi);

/**
 * die_each_range - call for every range of code that an entry has
 * @left: entries of lists that may still be read (ranges_each_of())
 *
 * Return:  0; what the callback returned; -EBADMSG.
 */
int die_each_range(const struct die_unit *unit, const struct die_values *values, uint64_t *left,
		   int (*callback)(void *context, uint64_t lo, uint64_t hi), void *context);

/**
 * abbrevs_get - the table that a unit uses
 *
 * Return:  0; -EBADMSG; -ENOMEM.
 * Owns:    the cache, until abbrevs_trim() or abbrevs_release().
 * Context: any thread, one at a time for one cache.
 */
int abbrevs_get(struct abbrev_cache *cache, const struct dwarf_unit *unit,
		const struct abbrev_table **ret_table);

/**
 * abbrevs_full - are there so many that they should be forgotten?
 *
 * Context: any thread, one at a time for one cache.
 */
bool abbrevs_full(const struct abbrev_cache *cache);

/**
 * abbrevs_release - forget all tables; the cache is empty and usable
 *
 * Context: any thread, one at a time for one cache.
 */
void abbrevs_release(struct abbrev_cache *cache);

#endif
