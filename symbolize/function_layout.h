/*
 * function_layout.h - the bytes of a function table (inner header of function_table.h)
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
 */
#ifndef SYMBOLIZE_FUNCTION_LAYOUT_H
#define SYMBOLIZE_FUNCTION_LAYOUT_H

#include <stdint.h>

enum {
	LAYOUT_MAGIC = 0x31746677, /* "wft1" */
	LAYOUT_ALIGN = 8,
	LAYOUT_NO_FILE = UINT16_MAX,
	LAYOUT_MAX_FILES = UINT16_MAX - 1,
};

struct layout_head {
	uint32_t magic;
	uint32_t n_ranges;
	uint32_t n_segments;
	uint32_t n_nodes;
	uint32_t n_rows;
	uint32_t n_files;
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

_Static_assert(sizeof(struct layout_head) == 40, "a head is 40 bytes");
_Static_assert(sizeof(struct layout_node) == 16, "a node is 16 bytes");
_Static_assert(sizeof(struct layout_row) == 12, "a row is 12 bytes");

#endif
