/*
 * unit.h - a unit of .debug_info: its header and what its root entry says of the whole unit
 *
 * Context: any thread.
 */
#ifndef DWARF_UNIT_H
#define DWARF_UNIT_H

#include "symbolize/dwarf/form.h"
#include "symbolize/sections/sections.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
