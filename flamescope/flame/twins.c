/* twins.c - the children of a node are laid side by side, and their frames marked */
#include "flamescope/flame/twins.h"

#include <errno.h>
#include <stdlib.h>

/* ORDER gets the used nodes by their parents; ENDS (zeroed, one a node) where a parent's end. */
static size_t lay(const struct selection *selection, const uint32_t *used, uint32_t *ends,
		  uint32_t *order)
{
	const struct profile_node *nodes = selection->nodes;
	uint32_t n = 0;

	for (size_t i = 1; i < selection->n_nodes; i++)
		ends[nodes[i].parent] += used[i] != 0;
	for (size_t i = 0; i < selection->n_nodes; i++) {
		uint32_t children = ends[i];

		ends[i] = n;
		n += children;
	}
	for (size_t i = 1; i < selection->n_nodes; i++)
		if (used[i])
			order[ends[nodes[i].parent]++] = (uint32_t)i;
	return n;
}

int twins_are_there(const struct selection *selection, const uint32_t *used)
{
	const struct profile_node *nodes = selection->nodes;
	const size_t n_frames = selection->profile->n_frames + selection->n_labels;
	uint32_t *ends = calloc(selection->n_nodes, sizeof(*ends));
	uint32_t *order = calloc(selection->n_nodes, sizeof(*order));
	uint32_t *marks = calloc(n_frames + 1, sizeof(*marks)); /* the last parent, and one more */
	int r = ends && order && marks ? 0 : -ENOMEM;
	size_t n = r == 0 ? lay(selection, used, ends, order) : 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		const struct profile_node *node = &nodes[order[i]];

		r = marks[node->frame] == node->parent + 1;
		marks[node->frame] = node->parent + 1;
	}
	free(ends);
	free(order);
	free(marks);
	return r;
}
