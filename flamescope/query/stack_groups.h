/* stack_groups.h - the values of dimensions as outermost frames of stacks */
#ifndef QUERY_STACK_GROUPS_H
#define QUERY_STACK_GROUPS_H

#include "flamescope/query/dimension.h"
#include "flamescope/query/query.h"
#include "flamescope/query/stack_tree.h"

struct stack_groups {
	size_t n;
	struct dimension dimensions[QUERY_MAX_GROUPS];
	uint32_t first_label[QUERY_MAX_GROUPS]; /* frame number of its value 0 */
	size_t n_labels;
	char **labels;
	struct stack_tree tree;
	/* node of TREE by group and node of the stacks' own tree: a row a group, as long as there
	   is room for rows (numbered from 1 on), then the map */
	struct pair_map row_of;
	uint32_t **rows;
	size_t n_rows;
	size_t max_rows;
	size_t row_nodes;
	struct pair_map places;
	struct stack_path path;
};

/**
 * stack_groups_init - the labels of a query's groups
 *
 * Return:  0; -ENOENT: no such dimension, and which there are; -E2BIG: too many; -ENOMEM.
 * Owns:    the caller, to stack_groups_release(), also after a failure.
 * Context: any thread.
 */
int stack_groups_init(struct stack_groups *groups, const struct profile *profile,
		      const struct query *query, struct err *err);

/**
 * stack_groups_release - forget it; a zeroed one is fine
 *
 * Context: any thread.
 */
void stack_groups_release(struct stack_groups *groups);

/**
 * stack_groups_place - a stack below its sample's groups
 * @nodes: the tree that STACK is of; always the same
 *
 * Return:  0; -E2BIG: more nodes than there is room for; -ENOMEM.
 * Context: any thread; one at a time.
 */
int stack_groups_place(struct stack_groups *groups, const struct profile_node *nodes,
		       uint32_t stack, size_t sample, uint32_t *ret_node);

#endif
