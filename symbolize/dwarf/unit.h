/*
 * unit.h - a unit of .debug_info: its header, what its root entry says of the whole unit, and the
 * values of attributes: skip, read, and what strings and addresses they lead to
 *
 * Context: any thread.
 */
#ifndef DWARF_UNIT_H
#define DWARF_UNIT_H

#include "symbolize/bounds/cursor.h"
#include "symbolize/sections/sections.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the sizes of forms depend on. */
struct dwarf_format {
	uint16_t version;
	uint8_t address_size; /* 4 or 8 */
	uint8_t offset_size;  /* 4 or 8 */
};

enum form_class {
	FORM_NONE,
	FORM_ADDRESS,
	FORM_ADDRESS_INDEX, /* in .debug_addr */
	FORM_CONSTANT,      /* and flags; SIGNED of them: DW_FORM_sdata, implicit_const */
	FORM_OFFSET,        /* in the section that the attribute belongs to */
	FORM_REF_UNIT,      /* from the unit's header */
	FORM_REF_INFO,      /* in .debug_info */
	FORM_REF_ALT,       /* in the alternate file's .debug_info */
	FORM_SIGNATURE,     /* of a type unit */
	FORM_LIST_INDEX,    /* DW_FORM_rnglistx, loclistx */
	FORM_STRING,        /* text */
	FORM_STRP,          /* in .debug_str */
	FORM_LINE_STRP,     /* in .debug_line_str */
	FORM_STRING_INDEX,  /* in .debug_str_offsets */
	FORM_STRP_ALT,      /* in the alternate file's .debug_str */
	FORM_BLOCK,         /* number bytes at block; DW_FORM_data16 and exprloc too */
};

struct form_value {
	enum form_class class;
	uint64_t number;
	union {
		const char *text;     /* FORM_STRING */
		const uint8_t *block; /* FORM_BLOCK */
	};
};

enum {
	UNIT_MAX_COUNT = 4 * 1024 * 1024, /* of a source */
	UNIT_MAX_ROOT_ATTRS = 256,
};

/*
 * What units are read from: the sections of a file.  For a unit of a .dwp, its slices of them; a
 * .dwo and a .dwp have .debug_addr and .debug_ranges of the module (7.3.2).  ALT is the
 * alternate file's (DW_FORM_strp_sup, DW_FORM_ref_sup4/8, DW_FORM_GNU_strp_alt/ref_alt).
 */
struct dwarf_source {
	struct dwarf_bytes of[N_DWARF_SECTIONS];
	const struct dwarf_source *alt; /* NULL: none */
	bool split;                     /* a .dwo's or a .dwp's */
};

/* The unit headers' type (7.5.1); units before DWARF 5 are UNIT_COMPILE. */
enum unit_type {
	UNIT_COMPILE = 0x01,
	UNIT_TYPE = 0x02,
	UNIT_PARTIAL = 0x03,
	UNIT_SKELETON = 0x04,
	UNIT_SPLIT_COMPILE = 0x05,
	UNIT_SPLIT_TYPE = 0x06,
};

/* Views into the source's bytes: no part is owned. */
struct dwarf_unit {
	const struct dwarf_source *source;
	uint64_t offset; /* of the header in .debug_info */
	uint64_t root;   /* of the root entry */
	uint64_t end;    /* the first byte after the unit */
	struct dwarf_format format;
	uint8_t type; /* enum unit_type */
	uint64_t abbrev_offset;

	/* Of the root entry. */
	uint16_t tag; /* DW_TAG_*; 0: the unit has none */
	bool has_children;
	uint16_t language;
	uint64_t str_offsets_base;
	uint64_t addr_base;
	uint64_t rnglists_base;
	uint64_t ranges_base; /* DW_AT_GNU_ranges_base: counts for the split unit's ranges only */
	uint64_t low_pc;      /* also the base of its range lists; 0: none */
	uint64_t high_pc;     /* an address; 0: none */
	struct form_value ranges; /* FORM_NONE: none */
	bool has_stmt_list;
	uint64_t stmt_list; /* in .debug_line */
	bool has_dwo_id;
	uint64_t dwo_id;
	const char *comp_dir; /* "" where there is none */
	const char *name;     /* "" */
	const char *dwo_name; /* "": no split unit belongs to it */
	const char *producer; /* "" */
};

/**
 * unit_next - where the next unit begins, without reading more than lengths
 *
 * Return:  its offset, the end of .debug_info when there is none; 0: the header at OFFSET is
 *          invalid.
 */
uint64_t unit_next(const struct dwarf_source *source, uint64_t offset);

/**
 * unit_read - the header at OFFSET and its root entry
 *
 * Type units are read as others are; their type says so.  A root without children or attributes
 * is fine.
 *
 * Return:  0; -EBADMSG.
 * Owns:    the source, everything.
 */
int unit_read(const struct dwarf_source *source, uint64_t offset, struct dwarf_unit *ret_unit);

/**
 * unit_take_skeleton - what a split unit has from its skeleton: addresses' and ranges' bases,
 *                      low_pc, line program, folder
 */
void unit_take_skeleton(struct dwarf_unit *split, const struct dwarf_unit *skeleton);

/**
 * form_size - bytes of a form, where they are always as many
 *
 * Return:  0 (DW_FORM_flag_present, implicit_const) or more; -1: its value has to be read; -2:
 *          there is no such form.
 */
int form_size(const struct dwarf_format *format, uint16_t form);

/**
 * form_skip - pass over a value
 *
 * The cursor fails where the bytes end early or the form is unknown: nothing after it can be read.
 */
void form_skip(struct cursor *cursor, const struct dwarf_format *format, uint16_t form);

/**
 * form_read - a value as it stands; DW_FORM_indirect is followed once
 * @implicit: the value of a DW_FORM_implicit_const
 *
 * On failure the cursor has failed and the value is of class FORM_NONE.
 *
 * Owns:    the bytes' owner, text and block.
 */
void form_read(struct cursor *cursor, const struct dwarf_format *format, uint16_t form,
	       int64_t implicit, struct form_value *ret_value);

/**
 * form_string - the string that a value is or leads to
 *
 * Return:  the string; NULL: it is none, it has no end, or its section (the alternate file) is
 *          not there.
 * Owns:    the unit's source.
 */
const char *form_string(const struct dwarf_unit *unit, const struct form_value *value);

/**
 * form_address - the address that a value is or leads to
 *
 * Return:  whether it is one.
 */
bool form_address(const struct dwarf_unit *unit, const struct form_value *value,
		  uint64_t *ret_address);

/**
 * form_indexed_address - entry INDEX of the unit's part of .debug_addr (7.27)
 *
 * Return:  whether it is there.
 */
bool form_indexed_address(const struct dwarf_unit *unit, uint64_t index, uint64_t *ret_address);

#endif
