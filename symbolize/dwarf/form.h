/*
 * form.h - the values of attributes: skip, read, and what strings and addresses they lead to
 *
 * Context: any thread.
 */
#ifndef DWARF_FORM_H
#define DWARF_FORM_H

#include "symbolize/bounds/cursor.h"

#include <stdbool.h>
#include <stdint.h>

struct dwarf_unit;

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
