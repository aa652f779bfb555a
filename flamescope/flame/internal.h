/*
 * internal.h - how the nodes of stacks are put into rows
 *
 * Context: any thread.
 */
#ifndef FLAME_INTERNAL_H
#define FLAME_INTERNAL_H

#include "flamescope/query/query.h"

/**
 * rows_sort - put nodes row by row: by depth, below their parents, siblings by name
 * @nodes:  N of them, 0 is the root, parents come before their children
 * @places: N of them, which get where each node is now
 *
 * Return:  0; -ENOMEM, and nothing is moved.
 */
int rows_sort(const struct selection *selection, struct profile_node *nodes, size_t n,
	      uint32_t *places);

#endif
