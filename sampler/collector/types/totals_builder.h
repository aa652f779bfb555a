/*
 * totals_builder.h - adds up what programs have counted, by name, and makes a struct totals of it
 *
 * Bounded: what there is no room for is counted as "other".
 *
 * Context: any thread, one at a time with a builder.
 */
#ifndef TYPES_TOTALS_BUILDER_H
#define TYPES_TOTALS_BUILDER_H

#include "sampler/collector/types/totals.h"

#include <stdbool.h>

enum {
	BUILDER_NODES = 16384,
	BUILDER_CELLS = 16384,
	BUILDER_TIERS = 512,
	BUILDER_NAMES = 65536,
	BUILDER_BUCKETS = 1 << 20, /* of all durations together, 16 bytes each */
};

struct totals_builder;

/* Numbers that belong to no row. */
struct totals_losses {
	uint64_t misuse[TOTALS_MISUSES];
	uint64_t names;
	uint64_t nodes;
	uint64_t cells;
	uint64_t durations;
	uint64_t threads;
};

/**
 * totals_builder_new - of nothing
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller, to totals_builder_free(), unless totals_builder_finish() takes it.
 */
int totals_builder_new(struct totals_builder **ret_builder);

/** totals_builder_free - NULL is fine */
void totals_builder_free(struct totals_builder *builder);

/**
 * totals_builder_node - the node of a name inside another one, made when it is new
 * @parent: index; 0 is the root
 * @key:    kind, name, file and line are used; names are copied
 *
 * Return:  its index, for totals_builder_at(); 0 when memory ran out.
 */
uint32_t totals_builder_node(struct totals_builder *builder, uint32_t parent,
			     const struct total_node *key);

/**
 * totals_builder_at - the numbers of a node
 *
 * Return:  never NULL.
 * Owns:    the builder; good until the next node is made.
 */
struct total_node *totals_builder_at(struct totals_builder *builder, uint32_t node);

/**
 * totals_builder_cell - the row of a tier and an identity, made when it is new
 *
 * Return:  the row; NULL when memory ran out.
 * Owns:    the builder; good until the next row is made.
 */
struct total_tier *totals_builder_cell(struct totals_builder *builder, const char *tier,
				       const char *identity);

/**
 * totals_builder_durations - add durations to a row, as far as there is room
 *
 * Return:  0; -ENOMEM.
 */
int totals_builder_durations(struct totals_builder *builder, struct total_tier *row,
			     const struct histogram *durations);

/** totals_builder_losses - the numbers that belong to no row */
struct totals_losses *totals_builder_losses(struct totals_builder *builder);

/** totals_builder_processes - how many programs have counted something */
size_t *totals_builder_processes(struct totals_builder *builder);

/**
 * totals_builder_merge - add all of another one
 *
 * Return:  0; -ENOMEM: part of it may have been added.
 */
int totals_builder_merge(struct totals_builder *builder, const struct totals_builder *other);

/**
 * totals_builder_subtract - take away what an earlier one has
 *
 * Return:  0; -ENOMEM: part of it may have been taken away.
 */
int totals_builder_subtract(struct totals_builder *builder, const struct totals_builder *earlier);

/**
 * totals_builder_finish - rows of all that was added
 *
 * Return:  0; -ENOMEM.
 * Owns:    *RET_TOTALS has the builder then, to totals_release(); nothing may be added any more.
 */
int totals_builder_finish(struct totals_builder *builder, struct totals *ret_totals);

/** total_tier_add - add the numbers of one row to another, but for durations */
void total_tier_add(struct total_tier *to, const struct total_tier *from);

#endif
