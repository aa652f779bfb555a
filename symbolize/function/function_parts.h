/*
 * function_parts.h - what a builder has gathered (inner header of function_table.h)
 *
 * A node's name and a file are numbers of strings here; in the table they are offsets.
 */
#ifndef FUNCTION_FUNCTION_PARTS_H
#define FUNCTION_FUNCTION_PARTS_H

#include "base/buf.h"
#include "symbolize/function/function_layout.h"
#include "symbolize/function/function_sweep.h"
#include "symbolize/function/function_table.h"

#include <stddef.h>
#include <stdint.h>

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
