/*
 * function_sweep.h - overlapping ranges made into disjoint segments (inner header of the builder)
 *
 * DWARF nests ranges, mostly; some compilers overlap them partly, and a file may say anything.
 */
#ifndef FUNCTION_FUNCTION_SWEEP_H
#define FUNCTION_FUNCTION_SWEEP_H

#include "symbolize/function/function_layout.h"

#include <stddef.h>
#include <stdint.h>

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

#endif
