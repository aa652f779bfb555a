/* wasm_tree.c - the nodes of a tree row by row, and where each of them is, for the page */
#include "flamescope/wasm/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t *link_of(const struct wasm_tree *tree, size_t node, size_t link)
{
	return (uint32_t *)(void *)((char *)tree->nodes + node * tree->size + link);
}

/* The nodes in their new order, and the place of each in it. */
static void find_order(const struct wasm_tree *tree, uint32_t *order, uint32_t *place)
{
	size_t filled = 1;

	for (size_t i = 0; i < filled; i++) {
		uint32_t child = *link_of(tree, order[i], tree->first_child);

		for (; child && filled < tree->n; child = *link_of(tree, child, tree->next)) {
			place[child] = (uint32_t)filled;
			order[filled++] = child;
		}
	}
}

int wasm_tree_rows(const struct wasm_tree *tree)
{
	const size_t links[] = {tree->parent, tree->first_child, tree->next};
	uint32_t *order = calloc(tree->n + 1, sizeof(*order));
	uint32_t *place = calloc(tree->n + 1, sizeof(*place));
	char *copy = calloc(tree->n + 1, tree->size);
	int r = order && place && copy ? 0 : -ENOMEM;

	if (r == 0) {
		find_order(tree, order, place);
		memcpy(copy, tree->nodes, tree->n * tree->size);
	}
	for (size_t i = 0; r == 0 && i < tree->n; i++) {
		memcpy((char *)tree->nodes + i * tree->size, copy + order[i] * tree->size,
		       tree->size);
		for (size_t k = 0; k < sizeof(links) / sizeof(links[0]); k++)
			*link_of(tree, i, links[k]) = place[*link_of(tree, i, links[k])];
	}
	free(order);
	free(place);
	free(copy);
	return r;
}

const struct wasm_view *wasm_tree_place(const struct wasm_tree *tree, const double *amount,
					bool is_start)
{
	const double whole = tree->n && amount && amount[0] > 0 ? amount[0] : 0;
	double *ends = calloc(tree->n + 1, sizeof(*ends)); /* of a node's last child so far */
	double *to;
	const struct wasm_view *column = wasm_doubles(amount && ends ? tree->n : 0, &to);

	for (size_t i = 0; to && column->n && i < tree->n; i++) {
		double width = whole > 0 ? amount[i] / whole : 0;
		double start = i ? ends[*link_of(tree, i, tree->parent)] : 0;

		ends[i] = start;
		if (i)
			ends[*link_of(tree, i, tree->parent)] += width;
		to[i] = is_start ? start : width;
	}
	free(ends);
	return column;
}
