/* internal.h - struct totals_builder, for the files that make rows of it */
#ifndef TYPES_INTERNAL_H
#define TYPES_INTERNAL_H

#include "base/intern.h"
#include "base/map.h"
#include "sampler/collector/types/totals_builder.h"

struct totals_builder {
	struct intern names;
	struct total_node *nodes; /* the root is the first */
	uint32_t n_nodes;
	size_t nodes_size;
	struct map node_index;    /* from hashes to indices, plus 1 */
	struct total_tier *cells; /* one a tier and identity, without sums */
	size_t n_cells;
	size_t cells_size;
	struct map cell_index;
	size_t n_buckets;
	struct totals_losses losses;
	size_t n_processes;
	/* Made by totals_builder_finish(). */
	struct total_task *tasks;
	size_t n_tasks;
	struct total_tier *tiers;
	size_t n_tiers;
};

/**
 * task_rows_make - cumulative times of nodes, and rows of tasks and functions
 *
 * Return:  0; -ENOMEM.
 * Owns:    the builder.
 * Context: any thread.
 */
int task_rows_make(struct totals_builder *builder);

/**
 * tier_rows_make - rows of tiers, with "_total", and "other" for what is not among the first
 *
 * Return:  0; -ENOMEM.
 * Owns:    the builder.
 * Context: any thread.
 */
int tier_rows_make(struct totals_builder *builder);

#endif
