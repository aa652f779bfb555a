/* walk.h - through a graph in depth, without recursion: stacks may have 100,000 frames */
#ifndef FLAME_WALK_H
#define FLAME_WALK_H

#include "flamescope/flame/flame.h"

/* Each node is entered before its children and left behind them; the root is neither. */
struct flame_visitor {
	void *data;
	int (*enter)(void *data, const struct flame_node *node, uint32_t number);
	void (*leave)(void *data, const struct flame_node *node, uint32_t number);
};

/**
 * flame_walk - visit all nodes
 *
 * Return:  0; what enter() returned, if that was not 0: the walk ends there.
 * Context: any thread.
 */
int flame_walk(const struct flame *flame, const struct flame_visitor *visitor);

#endif
