/* tree.c - the stacks of both sides in one tree */
#include "base/map.h"
#include "flamescope/diff/internal.h"
#include "flamescope/flame/flame.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A tree while it grows, its nodes in no order but that parents come first. */
struct growth {
	const struct diff_names *names;
	struct diff_node *nodes;
	size_t n;
	size_t capacity;
	struct map children; /* parent and function -> node */
	bool reverse;
};

/* What is being added. */
struct recording {
	const struct selection *selection;
	const uint32_t *of_frame;
	unsigned side;
	double whole; /* of the side */
};

static int append_node(struct growth *growth, uint32_t parent, uint32_t function)
{
	struct diff_node *nodes = growth->nodes;

	if (growth->n == growth->capacity) {
		size_t capacity = growth->capacity ? growth->capacity * 2 : 1024;

		nodes = reallocarray(growth->nodes, capacity, sizeof(*nodes));
		if (!nodes)
			return -ENOMEM;
		growth->nodes = nodes;
		growth->capacity = capacity;
	}
	nodes[growth->n] = (struct diff_node){.function = function, .parent = parent};
	growth->n++;
	return 0;
}

static int child_of(struct growth *growth, uint32_t parent, uint32_t function, uint32_t *ret_node)
{
	uint64_t key = (uint64_t)parent << 32 | function;
	uintptr_t known = (uintptr_t)map_get(&growth->children, key);

	if (!known) {
		int r = append_node(growth, parent, function);

		known = growth->n - 1;
		if (r == 0)
			r = map_put(&growth->children, key, (void *)known);
		if (r < 0)
			return r;
	}
	*ret_node = (uint32_t)known;
	return 0;
}

/* The stacks that samples have, with all that they stand on. */
static void mark_used(const struct selection *side, uint32_t *of_node)
{
	for (size_t i = 0; i < side->n; i++)
		of_node[side->stacks[i]] = 1;
	for (size_t i = side->n_nodes; i-- > 1;)
		if (of_node[i])
			of_node[side->nodes[i].parent] = 1;
}

static void add_values(struct growth *growth, const struct recording *recording,
		       const uint32_t *of_node)
{
	const struct selection *selection = recording->selection;

	for (size_t i = 0; recording->whole > 0 && i < selection->n; i++) {
		struct diff_node *node = &growth->nodes[of_node[selection->stacks[i]]];
		double share = (double)selection->values[i] / recording->whole;

		node->self[recording->side] += share;
		node->self_width += fabs(share) / DIFF_SIDES;
	}
}

/* From the innermost function outwards; what a stack counts for is the outermost's own. */
static int add_reversed(struct growth *growth, const struct recording *recording, uint32_t stack,
			uint32_t *ret_node)
{
	const struct profile_node *nodes = recording->selection->nodes;
	uint32_t at = 0;
	int r = 0;

	for (uint32_t node = stack; node != 0 && r == 0; node = nodes[node].parent)
		r = child_of(growth, at, recording->of_frame[nodes[node].frame], &at);
	*ret_node = at;
	return r;
}

static int add_stacks_reversed(struct growth *growth, const struct recording *recording,
			       uint32_t *of_node)
{
	const struct selection *selection = recording->selection;

	for (size_t i = 0; i < selection->n; i++) {
		uint32_t stack = selection->stacks[i];
		int r;

		if (of_node[stack] != 0 || stack == 0)
			continue;
		r = add_reversed(growth, recording, stack, &of_node[stack]);
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_stacks(struct growth *growth, const struct recording *recording, uint32_t *of_node)
{
	const struct selection *selection = recording->selection;
	int r = 0;

	mark_used(selection, of_node);
	of_node[0] = 0;
	for (size_t i = 1; i < selection->n_nodes && r == 0; i++) {
		const struct profile_node *node = &selection->nodes[i];

		if (of_node[i])
			r = child_of(growth, of_node[node->parent],
				     recording->of_frame[node->frame], &of_node[i]);
	}
	return r;
}

static int add_recording(struct growth *growth, const struct recording *recording)
{
	uint32_t *of_node = calloc(recording->selection->n_nodes + 1, sizeof(*of_node));
	int r;

	if (!of_node)
		return -ENOMEM;
	r = growth->reverse ? add_stacks_reversed(growth, recording, of_node)
			    : add_stacks(growth, recording, of_node);
	if (r == 0)
		add_values(growth, recording, of_node);
	free(of_node);
	return r;
}

static int add_side(struct growth *growth, const struct diff_side *recordings, unsigned side,
		    double whole)
{
	int r = 0;

	for (size_t i = 0; i < recordings->n && r == 0; i++) {
		struct recording recording = {.selection = recordings->recordings[i],
					      .of_frame = growth->names->of_frame[side][i],
					      .side = side,
					      .whole = whole};

		r = add_recording(growth, &recording);
	}
	return r;
}

/* Each is whole when it is added to its parent, and put before its siblings so far. */
static void add_to_parents(struct growth *growth)
{
	for (size_t i = growth->n; i-- > 0;) {
		struct diff_node *node = &growth->nodes[i];
		struct diff_node *parent = &growth->nodes[node->parent];

		for (unsigned side = 0; side < DIFF_SIDES; side++) {
			node->total[side] += node->self[side];
			if (i > 0)
				parent->total[side] += node->total[side];
		}
		node->width += node->self_width;
		if (i == 0)
			break;
		parent->width += node->width;
		node->next = parent->first_child;
		parent->first_child = (uint32_t)i;
	}
}

static const char *name_of(const void *names, uint32_t function)
{
	return ((const struct diff_names *)names)->names[function];
}

/* SORTED and PLACES have room for all nodes; ROWS are their parents and functions. */
static int sort_rows(const struct growth *growth, struct profile_node *rows, uint32_t *places,
		     struct diff_node *sorted)
{
	const struct flame_names names = {growth->names, name_of, growth->names->n};
	int r;

	for (size_t i = 0; i < growth->n; i++)
		rows[i] = (struct profile_node){.parent = growth->nodes[i].parent,
						.frame = growth->nodes[i].function};
	r = flame_rows(&names, rows, growth->n, places);
	for (size_t i = 0; r == 0 && i < growth->n; i++)
		sorted[places[i]] = growth->nodes[i];
	for (size_t i = 1; r == 0 && i < growth->n; i++) {
		sorted[i].parent = rows[i].parent;
		sorted[i].depth = sorted[rows[i].parent].depth + 1;
	}
	return r;
}

static int grow(struct growth *growth, const struct diff_side sides[DIFF_SIDES],
		const double whole[DIFF_SIDES])
{
	struct diff_node *sorted;
	struct profile_node *rows;
	uint32_t *places;
	int r = append_node(growth, 0, UINT32_MAX);

	for (unsigned side = 0; side < DIFF_SIDES && r == 0; side++)
		r = add_side(growth, &sides[side], side, whole[side]);
	if (r < 0)
		return r;
	sorted = calloc(growth->n, sizeof(*sorted));
	rows = calloc(growth->n, sizeof(*rows));
	places = calloc(growth->n, sizeof(*places));
	r = sorted && rows && places ? sort_rows(growth, rows, places, sorted) : -ENOMEM;
	free(places);
	free(rows);
	free(growth->nodes);
	growth->nodes = sorted;
	if (r == 0)
		add_to_parents(growth);
	return r;
}

int diff_tree_make(const struct diff_side sides[DIFF_SIDES], const struct diff_names *names,
		   const double whole[DIFF_SIDES], bool reverse, struct diff_node **ret_nodes,
		   size_t *ret_n)
{
	struct growth growth = {.names = names, .reverse = reverse};
	int r = grow(&growth, sides, whole);

	map_release(&growth.children);
	if (r < 0) {
		free(growth.nodes);
		return r;
	}
	*ret_nodes = growth.nodes;
	*ret_n = growth.n;
	return 0;
}
