/* stack_tree.h - a tree of stacks that grows; a frame has one child of each frame */
#ifndef QUERY_STACK_TREE_H
#define QUERY_STACK_TREE_H

#include "flamescope/profile.h"
#include "flamescope/query/pair_map.h"

enum { STACK_TREE_MAX_NODES = 8 * 1024 * 1024 };

/* Number 0 is the root; a parent's number is below its children's. */
struct stack_tree {
	struct profile_node *nodes;
	size_t n;
	size_t size;
	struct pair_map map;
};

/* The way from a stack up to something that is known, innermost first. */
struct stack_path {
	uint32_t *nodes;
	size_t n;
	size_t size;
};

/**
 * stack_tree_init - a tree of a root
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller, to stack_tree_release().
 * Context: any thread.
 */
int stack_tree_init(struct stack_tree *tree);

/**
 * stack_tree_release - forget it; a zeroed tree is fine
 *
 * Context: any thread.
 */
void stack_tree_release(struct stack_tree *tree);

/**
 * stack_tree_add - a new node, whatever its siblings are
 *
 * Return:  0; -ENOMEM; -E2BIG: there are STACK_TREE_MAX_NODES.
 * Context: any thread.
 */
int stack_tree_add(struct stack_tree *tree, uint32_t parent, uint32_t frame, uint32_t *ret_node);

/**
 * stack_tree_child - the node of a frame below a parent, new or not
 *
 * Return:  as stack_tree_add().
 * Context: any thread.
 */
int stack_tree_child(struct stack_tree *tree, uint32_t parent, uint32_t frame, uint32_t *ret_node);

/**
 * stack_path_push - one more node of the way
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller: free(path->nodes).
 * Context: any thread.
 */
int stack_path_push(struct stack_path *path, uint32_t node);

#endif
