/*
 * flame.h - stacks merged into a tree: the model of flame graph, icicle, reverse and sandwich
 *
 * Context: any thread, unless a function says another.
 */
#ifndef FLAME_FLAME_H
#define FLAME_FLAME_H

#include "flamescope/query/query.h"

enum { FLAME_NONE = 0 }; /* as child or sibling: there is none (0 is the root) */

/*
 * Sums are kept apart by sign, so that what f took and g gave back is seen at both: a node is as
 * wide as gain + loss.  Siblings are in the order of name.  With QUERY_MEAN they are sums all the
 * same: a mean is gain - loss over samples.
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
	size_t n_nodes; /* row by row: 0 is the root, siblings are beside each other */
	struct flame_node *nodes;
	uint32_t depth; /* of the deepest node */
	uint32_t cut;   /* frames at which deep reversed stacks were cut; 0: none was */
};

enum flame_order {
	FLAME_CALLS,   /* outermost frame at the root */
	FLAME_REVERSE, /* innermost frame at the root */
};

/**
 * flame_make - merge a selection's stacks
 * @around: only stacks with a function of this name, from it on: with FLAME_CALLS what it calls,
 *          with FLAME_REVERSE what calls it (from its outermost place in the stack); NULL: all
 *
 * Return:  0; -ENOMEM; -E2BIG: more than 8 million nodes.
 * Owns:    the caller, to flame_free(); the selection has to outlive it.
 */
int flame_make(const struct selection *selection, enum flame_order order, const char *around,
	       struct flame **ret_flame);

/* What the numbers of frames below N are called. */
struct flame_names {
	const void *of;
	const char *(*name_of)(const void *of, uint32_t frame);
	size_t n;
};

/** flame_names_of - those of a selection, which has to outlive them */
struct flame_names flame_names_of(const struct selection *selection);

/**
 * flame_rows - put nodes row by row: by depth, below their parents, siblings by name
 * @nodes:  N of them, 0 is the root, parents come before their children
 * @places: N of them, which get where each node is now
 *
 * Return:  0; -ENOMEM, and nothing is moved.
 */
int flame_rows(const struct flame_names *names, struct profile_node *nodes, size_t n,
	       uint32_t *places);

/**
 * flame_sort_profile - number a profile's stacks as graphs do, so that graphs of it cost less
 *
 * It is for who makes many graphs of a profile that nobody else reads yet.
 *
 * Return:  0; -ENOMEM, and the profile is as before.
 */
int flame_sort_profile(struct profile *profile);

/**
 * flame_free - free it
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
	uint64_t calls; /* times that it was seen below a caller, over all samples */
};

/**
 * flame_functions - all functions of a selection, by total, most first
 *
 * The labels of groups are among them: their frame is not below profile->n_frames.
 *
 * Return:  0; -ENOMEM; -E2BIG as flame_make().
 * Owns:    the caller: free(*ret_functions).
 */
int flame_functions(const struct selection *selection, struct flame_function **ret_functions,
		    size_t *ret_n);

/* That one function called another, wherever in the stacks. */
struct flame_edge {
	uint32_t caller; /* frames; never a group's label */
	uint32_t callee;
	uint64_t gain, loss; /* of the callee below the caller; a sample counts once */
	uint64_t samples;
};

/**
 * flame_edges - the calls between functions of a selection, by total, most first
 *
 * The callers of f are the edges whose callee is f, its callees those whose caller is f.
 *
 * Return:  0; -ENOMEM; -E2BIG as flame_make().
 * Owns:    the caller: free(*ret_edges).
 */
int flame_edges(const struct selection *selection, struct flame_edge **ret_edges, size_t *ret_n);

/* walk: through a graph in depth, without recursion: stacks may have 100,000 frames */

/* Each node is entered before its children and left after them; the root is neither. */
struct flame_visitor {
	void *data;
	int (*enter)(void *data, const struct flame_node *node, uint32_t number);
	void (*leave)(void *data, const struct flame_node *node, uint32_t number);
};

/**
 * flame_walk - visit all nodes
 *
 * Return:  0; what enter() returned, if that was not 0: the walk ends there.
 */
int flame_walk(const struct flame *flame, const struct flame_visitor *visitor);

#endif
