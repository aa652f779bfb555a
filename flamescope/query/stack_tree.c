/* stack_tree.c - a tree of stacks that grows; a frame has one child of each frame */
#include "flamescope/query/stack_tree.h"

#include <errno.h>
#include <stdlib.h>

enum { FIRST_NODES = 1024, FIRST_PATH = 256 };

int stack_tree_init(struct stack_tree *tree)
{
	*tree = (struct stack_tree){.n = 1, .size = FIRST_NODES};
	tree->nodes = calloc(tree->size, sizeof(*tree->nodes));
	if (!tree->nodes)
		return -ENOMEM;
	return pair_map_init(&tree->map);
}

void stack_tree_release(struct stack_tree *tree)
{
	free(tree->nodes);
	pair_map_release(&tree->map);
	*tree = (struct stack_tree){0};
}

int stack_tree_add(struct stack_tree *tree, uint32_t parent, uint32_t frame, uint32_t *ret_node)
{
	if (tree->n == STACK_TREE_MAX_NODES)
		return -E2BIG;
	if (tree->n == tree->size) {
		struct profile_node *nodes =
			realloc(tree->nodes, tree->size * 2 * sizeof(*tree->nodes));

		if (!nodes)
			return -ENOMEM;
		tree->nodes = nodes;
		tree->size *= 2;
	}
	tree->nodes[tree->n] = (struct profile_node){.parent = parent, .frame = frame};
	*ret_node = (uint32_t)tree->n++;
	return 0;
}

int stack_tree_child(struct stack_tree *tree, uint32_t parent, uint32_t frame, uint32_t *ret_node)
{
	uint32_t *known = pair_map_at(&tree->map, parent, frame);
	int r;

	if (!known)
		return -ENOMEM;
	if (*known == 0) {
		r = stack_tree_add(tree, parent, frame, known);
		if (r < 0)
			return r;
	}
	*ret_node = *known;
	return 0;
}

int stack_path_push(struct stack_path *path, uint32_t node)
{
	if (path->n == path->size) {
		size_t size = path->size ? path->size * 2 : FIRST_PATH;
		uint32_t *nodes = realloc(path->nodes, size * sizeof(*nodes));

		if (!nodes)
			return -ENOMEM;
		path->nodes = nodes;
		path->size = size;
	}
	path->nodes[path->n++] = node;
	return 0;
}
