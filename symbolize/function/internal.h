/* internal.h - what the files of this folder share to build a table */
#ifndef FUNCTION_INTERNAL_H
#define FUNCTION_INTERNAL_H

#include "base/buf.h"
#include "symbolize/function/function_layout.h"
#include "symbolize/function/function_table.h"

#include <stddef.h>
#include <stdint.h>

/*
 * ---- function_sweep: overlapping ranges made into disjoint segments
 *
 * DWARF nests ranges, mostly; some compilers overlap them partly, and a file may say anything.
 */

struct function_node {
	struct layout_node kept;
	uint32_t depth; /* 0: the function */
};

/* A node's code, as it was added. */
struct function_range {
	uint64_t lo;
	uint64_t hi;
	uint32_t node; /* 0: the function's own */
	uint32_t depth;
};

/* A row, as it was added. */
struct function_row {
	uint64_t addr;
	uint32_t line;
	uint32_t order;
	uint16_t file;
	uint16_t column;
};

/* What comes of them.  Zero is empty; memory is kept from one function to the next. */
struct function_sweep {
	uint64_t base;
	struct layout_range *ranges;
	size_t n_ranges;
	size_t range_room;
	struct layout_segment *segments;
	size_t n_segments;
	size_t segment_room;
	struct layout_row *rows;
	size_t n_rows;
	size_t row_room;
	uint32_t *heap; /* of the ranges that hold the address at hand, the innermost first */
	size_t n_heap;
	size_t heap_room;
	uint64_t *key_space; /* for the keys, and for sorting them */
	size_t key_room;
	const uint64_t *keys; /* of the ranges, in order of addresses: offset << 32 | number */
	size_t n_keys;
	size_t at_range; /* where the last segment was cut to the function's ranges */
};

/**
 * function_sweep_run - the function's ranges, and the innermost node of each piece of them
 *
 * Return:  0; -ENODATA: none is the function's own; -ERANGE: too far apart; -ENOMEM.
 * Owns:    the sweep, until the next run.
 * Context: any thread, one at a time for one sweep.
 */
int function_sweep_run(struct function_sweep *sweep, const struct function_range *ranges, size_t n);

/**
 * function_sweep_rows - rows cut to the ranges of the last run
 * @rows: are sorted
 *
 * Return:  0; -ENOMEM.
 * Owns:    the sweep, until the next run.
 * Context: any thread, one at a time for one sweep.
 */
int function_sweep_rows(struct function_sweep *sweep, struct function_row *rows, size_t n);

/**
 * function_sweep_release - give back the memory
 *
 * Context: any thread.
 */
void function_sweep_release(struct function_sweep *sweep);

/*
 * ---- function_parts: what a builder has gathered
 *
 * A node's name and a file are numbers of strings here; in the table they are offsets.
 */

/* What becomes of nodes, files and strings in the table; FUNCTION_UNUSED: nothing. */
struct function_pack {
	uint32_t *of; /* nodes, then files, then strings */
	size_t room;
	uint32_t *nodes;
	uint32_t *files;
	uint32_t *strings;
	uint32_t n_nodes;
	uint32_t n_files;
	uint32_t n_string_bytes;
};

#define FUNCTION_UNUSED UINT32_MAX

/* A string that is known already; of another round: empty. */
struct slot {
	uint32_t round;
	uint32_t hash;
	uint32_t string;
	uint32_t file; /* its number as a file, or FUNCTION_NO_FILE */
};

struct function_builder {
	struct function_node *nodes;
	size_t n_nodes;
	size_t node_room;
	struct function_range *ranges;
	size_t n_ranges;
	size_t range_room;
	struct function_row *rows;
	size_t n_rows;
	size_t row_room;
	uint32_t *files; /* their names, as strings' numbers */
	size_t n_files;
	size_t file_room;
	struct buf strings;
	uint32_t *string_at; /* where each begins */
	size_t n_strings;
	size_t string_room;
	struct slot *slots;
	size_t n_slots;
	uint32_t round;
	struct function_sweep sweep;
	struct function_pack pack;
};

/**
 * function_pack_release - give back the memory
 *
 * Context: any thread.
 */
void function_pack_release(struct function_pack *pack);

#endif
