/*
 * abbrev.h - abbreviation tables, prepared for passing over entries quickly
 *
 * Most entries of .debug_info are of no interest.  Each abbreviation knows how to be passed over:
 * by a number of bytes where all its forms are of fixed size, else in steps of which each is so
 * many bytes and then one value of varying size.
 */
#ifndef DWARF_ABBREV_H
#define DWARF_ABBREV_H

#include "symbolize/dwarf/unit.h"

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

/**
 * abbrev_search - abbrev_of() where codes have gaps; call that
 *
 * Context: any thread.
 */
const struct abbrev *abbrev_search(const struct abbrev_table *table, uint64_t code);

/**
 * abbrev_of - the abbreviation with a code
 *
 * Return:  NULL: there is none.
 * Owns:    the table.
 * Context: any thread.
 */
static inline const struct abbrev *abbrev_of(const struct abbrev_table *table, uint64_t code)
{
	if (__builtin_expect(!table->dense, 0))
		return abbrev_search(table, code);
	return code - 1 < table->n_abbrevs ? &table->abbrevs[code - 1] : NULL;
}

#endif
