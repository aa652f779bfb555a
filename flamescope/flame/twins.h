/* twins.h - whether a tree has two children of one frame, which have to be merged */
#ifndef FLAME_TWINS_H
#define FLAME_TWINS_H

#include "flamescope/query/selection.h"

/**
 * twins_are_there - whether two nodes of a selection have the same parent and the same frame
 * @used: one a node; those with 0 do not count
 *
 * Some 10 ns a node, where a map of all nodes takes 60 and more.
 *
 * Return:  1: they are; 0; -ENOMEM.
 * Context: any thread.
 */
int twins_are_there(const struct selection *selection, const uint32_t *used);

#endif
