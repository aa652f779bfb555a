/* flame.h - stacks merged into a tree: the model of flame graph, icicle, reverse and sandwich */
#ifndef FLAME_FLAME_H
#define FLAME_FLAME_H

#include "flamescope/query/selection.h"

enum { FLAME_NONE = 0 }; /* as child or sibling: there is none (0 is the root) */

/*
 * Sums are kept apart by sign, so that what f took and g gave back is seen at both: a node is as
 * wide as gain + loss.  Siblings are in the order of name.
 */
struct flame_node {
	uint32_t frame;
	uint32_t parent;
	uint32_t first_child;
	uint32_t next;
	uint32_t depth; /* 0: the root */
	uint64_t self_gain, self_loss;
	uint64_t gain, loss; /* of it and all below */
	uint64_t self_samples, samples;
};

struct flame {
	const struct selection *selection;
	size_t n_nodes; /* 0 is the root; parents come before their children */
	struct flame_node *nodes;
	uint32_t depth; /* of the deepest node */
};

enum flame_order {
	FLAME_CALLS,   /* outermost frame at the root */
	FLAME_REVERSE, /* innermost frame at the root */
};

/**
 * flame_make - merge a selection's stacks
 * @around: only stacks with this frame, from it on: with FLAME_CALLS what it calls, with
 *          FLAME_REVERSE who calls it (from its outermost place in the stack); UINT32_MAX: all
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller, to flame_free(); the selection has to outlive it.
 * Context: any thread.
 */
int flame_make(const struct selection *selection, enum flame_order order, uint32_t around,
	       struct flame **ret_flame);

/**
 * flame_free - forget it
 *
 * Context: any thread.  NULL is fine.
 */
void flame_free(struct flame *flame);

/* What is known of a function, wherever it is in the stacks. */
struct flame_function {
	uint32_t frame;
	uint64_t self_gain, self_loss;
	uint64_t gain, loss; /* a sample counts once, however often the function is in its stack */
	uint64_t self_samples, samples;
	uint64_t calls; /* edges caller -> it that were seen, over all samples */
};

/**
 * flame_functions - all functions of a selection, by total, most first
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller: free(*ret_functions).
 * Context: any thread.
 */
int flame_functions(const struct selection *selection, struct flame_function **ret_functions,
		    size_t *ret_n);

#endif
