/* siblings.h - the children of a graph's nodes, in the order of name */
#ifndef FLAME_SIBLINGS_H
#define FLAME_SIBLINGS_H

#include "flamescope/flame/flame.h"

/**
 * siblings_link - set first_child and next of all nodes, whose parents are set
 *
 * Return:  0; -ENOMEM.
 * Context: any thread.
 */
int siblings_link(struct flame *flame);

#endif
