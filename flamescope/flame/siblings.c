/*
 * siblings.c - the children of a graph's nodes, in the order of name
 *
 * Names are sorted once, not once a node: nodes are laid in the order of their names' ranks, and
 * then each is put before its siblings so far, from the last one on.
 */
#include "flamescope/flame/siblings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct named {
	const char *name;
	uint32_t frame;
};

static int compare_named(const void *left, const void *right)
{
	const struct named *a = left;
	const struct named *b = right;
	int order = strcmp(a->name, b->name);

	return order != 0 ? order : (a->frame > b->frame) - (a->frame < b->frame);
}

/* RANKS is zeroed, one a frame; those that occur get their rank, from 1 on. */
static int rank_frames(const struct flame *flame, uint32_t *ranks, size_t *ret_n)
{
	struct named *named;
	size_t n = 0;

	for (size_t i = 1; i < flame->n_nodes; i++) {
		if (ranks[flame->nodes[i].frame]++ == 0)
			n++;
	}
	named = calloc(n + 1, sizeof(*named));
	if (!named)
		return -ENOMEM;
	n = 0;
	for (size_t i = 1; i < flame->n_nodes; i++) {
		uint32_t frame = flame->nodes[i].frame;

		if (ranks[frame] == 0)
			continue;
		ranks[frame] = 0;
		named[n].name = selection_frame_name(flame->selection, frame);
		named[n++].frame = frame;
	}
	qsort(named, n, sizeof(*named), compare_named);
	for (size_t i = 0; i < n; i++)
		ranks[named[i].frame] = (uint32_t)i + 1;
	free(named);
	*ret_n = n;
	return 0;
}

/* ORDER gets the nodes by rank; FIRST (zeroed, one a rank and two more) is where a rank begins. */
static void lay(const struct flame *flame, const uint32_t *ranks, uint32_t *first, size_t n_ranks,
		uint32_t *order)
{
	for (size_t i = 1; i < flame->n_nodes; i++)
		first[ranks[flame->nodes[i].frame] + 1]++;
	for (size_t i = 1; i < n_ranks + 2; i++)
		first[i] += first[i - 1];
	for (size_t i = 1; i < flame->n_nodes; i++)
		order[first[ranks[flame->nodes[i].frame]]++] = (uint32_t)i;
}

/* Each is put before its siblings so far. */
static void link_all(struct flame *flame, const uint32_t *order)
{
	for (size_t i = flame->n_nodes - 1; i-- > 0;) {
		struct flame_node *node = &flame->nodes[order[i]];
		struct flame_node *parent = &flame->nodes[node->parent];

		node->next = parent->first_child;
		parent->first_child = order[i];
	}
}

int siblings_link(struct flame *flame)
{
	size_t n_frames = flame->selection->profile->n_frames + flame->selection->n_labels;
	uint32_t *ranks = calloc(n_frames + 1, sizeof(*ranks));
	uint32_t *order = calloc(flame->n_nodes, sizeof(*order));
	uint32_t *first = NULL;
	size_t n_ranks = 0;
	int r = ranks && order ? rank_frames(flame, ranks, &n_ranks) : -ENOMEM;

	if (r == 0)
		first = calloc(n_ranks + 2, sizeof(*first));
	if (first) {
		lay(flame, ranks, first, n_ranks, order);
		link_all(flame, order);
	} else {
		r = -ENOMEM;
	}
	free(first);
	free(order);
	free(ranks);
	return r;
}
