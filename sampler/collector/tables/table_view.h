/*
 * table_view.h - what the tables of one program say: a copy, checked, and summed over its threads
 *
 * Everything in them is the target's word.  What cannot be is left out; numbers of rows, bytes and
 * durations are bounded.
 *
 * Context: collector thread.
 */
#ifndef TABLES_TABLE_VIEW_H
#define TABLES_TABLE_VIEW_H

#include "sampler/collector/types/totals_builder.h"
#include "sampler/wire/tables.h"

#include <stddef.h>
#include <stdint.h>

struct ticks;

enum {
	VIEW_OCTAVES = 1 << 16, /* with durations in them, of all cells: 32 MiB.  Further durations
				   are in no bucket */
	VIEW_ALL_OCTAVES = 1 << 18, /* of all programs together */
	VIEW_BYTES = 256 << 20,     /* that one reading copies; further threads are counted as lost.
				       A thousand threads with a thousand rows each have as many */
};

struct view_node {
	uint64_t begun;
	uint64_t ended;
	uint64_t self; /* ticks */
	uint64_t wall;
	uint64_t max;
	uint64_t run_max;
	uint64_t stillborn;
	uint64_t cancelled;
	uint64_t failed;
	uint64_t stalls;
};

struct view_cell {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t self_ns;
	uint64_t min_ns;
	uint64_t max_ns;
	uint64_t exemplar_ns;
	uint64_t exemplar_ticks;
	uint8_t exemplar_trace[TOTALS_TRACE_BYTES];
	uint64_t *octaves[TABLES_OCTAVES]; /* TABLES_STEPS buckets each; NULL: nothing is in it */
};

/* At one moment.  Index i is number i of the program. */
struct view_reading {
	struct view_node *nodes;
	uint64_t *node_keys;
	size_t n_nodes;
	struct view_cell *cells;
	uint64_t *cell_keys;
	size_t n_cells;
	size_t n_octaves;
	struct totals_losses losses;
};

/* Zero is one of nothing. */
struct table_view {
	struct table_name *names; /* TABLES_NAMES; they never change */
	size_t n_names;           /* the first that are known */
	struct view_reading last; /* the last one that was complete */
	bool counted;             /* the program has tables */
};

/* One thread's block and other things that are copied; shared by all views. */
struct table_scratch;

/**
 * table_scratch_new - memory for the copies
 *
 * Return:  NULL: -ENOMEM.
 * Owns:    the caller, to free().
 */
struct table_scratch *table_scratch_new(void);

/**
 * table_view_read - read all anew
 * @mem_fd: /proc/PID/mem
 * @state:  a copy of the program's
 * @bytes:  that may be copied, and on return those that were
 *
 * Return:  0; -ESRCH: something could not be read, and the last reading stands; -ENOMEM: the same;
 *          -E2BIG: the same, it takes more than BYTES and they are less than VIEW_BYTES.
 */
int table_view_read(struct table_view *view, struct table_scratch *scratch, int mem_fd,
		    const struct tables_state *state, size_t *bytes);

/**
 * table_view_add - add the last reading to a builder
 * @lives: the process lives, and its unfinished tasks with it
 *
 * Return:  0; -ENOMEM.
 */
int table_view_add(const struct table_view *view, struct totals_builder *builder,
		   const struct ticks *ticks, bool lives);

/** table_view_release - forget all; @scratch may be NULL for a view that was never read */
void table_view_release(struct table_view *view, struct table_scratch *scratch);

#endif
