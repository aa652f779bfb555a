/*
 * function_layout.h - the bytes of a function table
 *
 * A head, then the arrays in the order of their counts, then strings that each end in a NUL, then
 * zeros up to a multiple of eight.  Numbers are the machine's own: x86-64 and aarch64 agree, and
 * the cache's magic tells other machines apart.  Offsets ("lo", "hi") are from `base`.
 *
 *   ranges    of the function: disjoint, ascending, never touching; the first begins at 0
 *   segments  from lo to the next one's: the innermost node; one begins where each range does
 *   nodes     the function, then what was inlined into it; parents come before their children
 *   rows      from lo to the next one's: the line; none, or the first begins at 0
 *   files     offsets of their names in the strings
 *   symbols   from lo to the next one's: the symbol that is shown; none, or the first begins at 0
 *   readable  of a name among the strings: how it is shown; ascending by name
 *
 * The last two are the only ones that do not come from DWARF (function_show.c).
 *
 * Context: any thread.
 */
#ifndef FUNCTION_FUNCTION_LAYOUT_H
#define FUNCTION_FUNCTION_LAYOUT_H

#include <stdint.h>

enum {
	LAYOUT_MAGIC = 0x32746677, /* "wft2" */
	LAYOUT_ALIGN = 8,
	LAYOUT_NO_FILE = UINT16_MAX,
	LAYOUT_MAX_FILES = UINT16_MAX - 1,
};

#define LAYOUT_NO_NAME UINT32_MAX

struct layout_head {
	uint32_t magic;
	uint32_t n_ranges;
	uint32_t n_segments;
	uint32_t n_nodes;
	uint32_t n_rows;
	uint32_t n_files;
	uint32_t n_symbols;
	uint32_t n_readable;
	uint32_t n_string_bytes;
	uint32_t zero;
	uint64_t base;
};

struct layout_range {
	uint32_t lo;
	uint32_t hi;
};

struct layout_segment {
	uint32_t lo;
	uint32_t node;
};

struct layout_node {
	uint32_t parent;
	uint32_t name;
	uint32_t call_line;
	uint16_t call_file;
	uint16_t call_column;
};

struct layout_row {
	uint32_t lo;
	uint32_t line;
	uint16_t file;
	uint16_t column;
};

struct layout_symbol {
	uint32_t lo;
	uint32_t back; /* from lo to where it begins, which may be before the function */
	uint32_t name; /* LAYOUT_NO_NAME: none is shown; "": code begins there, without a symbol */
};

struct layout_readable {
	uint32_t name;
	uint32_t text;
};

_Static_assert(sizeof(struct layout_head) == 48, "a head is 48 bytes");
_Static_assert(sizeof(struct layout_node) == 16, "a node is 16 bytes");
_Static_assert(sizeof(struct layout_row) == 12, "a row is 12 bytes");

/**
 * layout_strings - where a table's strings begin, in bytes
 *
 * Counts are 32 bits each, so that the sum cannot wrap.
 */
static inline uint64_t layout_strings(const struct layout_head *head)
{
	uint64_t size = sizeof(*head);

	size += head->n_ranges * (uint64_t)sizeof(struct layout_range);
	size += head->n_segments * (uint64_t)sizeof(struct layout_segment);
	size += head->n_nodes * (uint64_t)sizeof(struct layout_node);
	size += head->n_rows * (uint64_t)sizeof(struct layout_row);
	size += head->n_files * (uint64_t)sizeof(uint32_t);
	size += head->n_symbols * (uint64_t)sizeof(struct layout_symbol);
	return size + head->n_readable * (uint64_t)sizeof(struct layout_readable);
}

/** layout_size - the bytes of a whole table */
static inline uint64_t layout_size(const struct layout_head *head)
{
	return (layout_strings(head) + head->n_string_bytes + LAYOUT_ALIGN - 1) &
	       ~(uint64_t)(LAYOUT_ALIGN - 1);
}

#endif
