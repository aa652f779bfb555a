/* flame_layout.c - places the nodes of a flame graph, without recursion: stacks can be deep */
#include "flamescope/draw/internal.h"

#include "base/saturated.h"

#include <errno.h>
#include <stdlib.h>

uint64_t flame_layout_width(const struct flame *flame, uint32_t node)
{
	const struct flame_node *it = &flame->nodes[node];

	if (flame->selection->measure == QUERY_MEAN)
		return it->samples;
	return saturated_add(it->gain, it->loss);
}

bool flame_layout_draws(const struct flame_layout *layout, uint32_t node)
{
	uint64_t width = flame_layout_width(layout->flame, node);

	return width > 0 && width >= layout->least &&
	       layout->flame->nodes[node].depth <= layout->max_depth;
}

/* Parents come before their children, so one pass does. */
static void place(struct flame_layout *layout)
{
	const struct flame *flame = layout->flame;

	for (uint32_t i = 0; i < flame->n_nodes; i++) {
		uint64_t at = layout->left[i];

		for (uint32_t child = flame->nodes[i].first_child; child != FLAME_NONE;
		     child = flame->nodes[child].next) {
			layout->left[child] = at;
			at += flame_layout_width(flame, child);
		}
	}
}

static void count(struct flame_layout *layout)
{
	layout->n_drawn = 0;
	layout->depth = 0;
	for (uint32_t i = 0; i < layout->flame->n_nodes; i++) {
		uint32_t depth = layout->flame->nodes[i].depth;

		if (!flame_layout_draws(layout, i))
			continue;
		layout->n_drawn++;
		layout->depth = depth > layout->depth ? depth : layout->depth;
	}
}

int flame_layout_make(struct flame_layout *layout, const struct flame *flame, double threshold,
		      bool for_picture)
{
	*layout = (struct flame_layout){
		.flame = flame, .max_depth = for_picture ? FLAME_LAYOUT_MAX_DEPTH : UINT32_MAX};
	layout->left = calloc(flame->n_nodes ? flame->n_nodes : 1, sizeof(*layout->left));
	if (!layout->left)
		return -ENOMEM;
	if (flame->n_nodes == 0)
		return 0;
	layout->total = flame_layout_width(flame, 0);
	layout->least = (uint64_t)((double)layout->total * (threshold < 1 ? threshold : 1));
	place(layout);
	count(layout);
	while (for_picture && layout->n_drawn > FLAME_LAYOUT_MAX_FRAMES &&
	       layout->least <= layout->total / 2) {
		layout->least = layout->least * 2 + 1;
		count(layout);
	}
	return 0;
}

void flame_layout_release(struct flame_layout *layout)
{
	free(layout->left);
	*layout = (struct flame_layout){0};
}

/* The first of a list of siblings that is drawn. */
static uint32_t first_drawn(const struct flame_layout *layout, uint32_t node)
{
	while (node != FLAME_NONE && !flame_layout_draws(layout, node))
		node = layout->flame->nodes[node].next;
	return node;
}

uint32_t flame_layout_next(const struct flame_layout *layout, uint32_t node)
{
	const struct flame_node *nodes = layout->flame->nodes;
	uint32_t next;

	if (layout->flame->n_nodes == 0)
		return FLAME_NONE;
	next = first_drawn(layout, nodes[node].first_child);
	while (next == FLAME_NONE && node != 0) {
		next = first_drawn(layout, nodes[node].next);
		node = nodes[node].parent;
	}
	return next;
}
