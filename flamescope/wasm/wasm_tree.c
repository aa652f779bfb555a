/* wasm_tree.c - the nodes of a tree row by row, and where each of them is, for the page */
#include "flamescope/wasm/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t *link_of(const struct wasm_tree *tree, size_t node, size_t link)
{
	return (uint32_t *)(void *)((char *)tree->nodes + node * tree->size + link);
}

/* The place of each node in the new order; ORDER is room for it.  Return: how many nodes there are.
 */
static size_t find_places(const struct wasm_tree *tree, uint32_t *order, uint32_t *place)
{
	size_t filled = 1;

	for (size_t i = 0; i < filled; i++) {
		uint32_t child = *link_of(tree, order[i], tree->first_child);

		for (; child && filled < tree->n; child = *link_of(tree, child, tree->next)) {
			place[child] = (uint32_t)filled;
			order[filled++] = child;
		}
	}
	return filled;
}

/* Along each cycle of ORDER, which says what comes to a place; SPARE is room for a node. */
static void move_nodes(const struct wasm_tree *tree, uint32_t *order, char *spare)
{
	const size_t size = tree->size;
	char *nodes = tree->nodes;

	for (size_t i = 0; i < tree->n; i++) {
		size_t to = i;

		if (order[i] == i)
			continue;
		memcpy(spare, nodes + i * size, size);
		while (order[to] != i) {
			const size_t from = order[to];

			memcpy(nodes + to * size, nodes + from * size, size);
			order[to] = (uint32_t)to;
			to = from;
		}
		memcpy(nodes + to * size, spare, size);
		order[to] = (uint32_t)to;
	}
}

int wasm_tree_rows(const struct wasm_tree *tree)
{
	const size_t links[] = {tree->parent, tree->first_child, tree->next};
	uint32_t *order = calloc(tree->n + 1, sizeof(*order));
	uint32_t *place = calloc(tree->n + 1, sizeof(*place));
	char *spare = malloc(tree->size);
	int r = order && place && spare ? 0 : -ENOMEM;

	if (r == 0 && find_places(tree, order, place) != tree->n)
		r = -EINVAL;
	for (size_t i = 0; r == 0 && i < tree->n; i++)
		for (size_t k = 0; k < sizeof(links) / sizeof(links[0]); k++)
			*link_of(tree, i, links[k]) = place[*link_of(tree, i, links[k])];
	if (r == 0)
		move_nodes(tree, order, spare);
	free(order);
	free(place);
	free(spare);
	return r;
}

const struct wasm_view *wasm_tree_place(const struct wasm_tree *tree, const double *amount,
					bool is_start)
{
	const double whole = tree->n && amount && amount[0] > 0 ? amount[0] : 0;
	uint32_t before = 0; /* parent of the node before, and where that one ends */
	double end = 0;
	double *to;
	const struct wasm_view *column = wasm_doubles(amount ? tree->n : 0, &to);

	for (size_t i = 0; amount && to && i < tree->n; i++) {
		const uint32_t parent = *link_of(tree, i, tree->parent);
		const double width = whole > 0 ? amount[i] / whole : 0;
		const double start = i == 0 ? 0 : i > 1 && parent == before ? end : to[parent];

		to[i] = is_start ? start : width;
		before = parent;
		end = start + width;
	}
	return column;
}
