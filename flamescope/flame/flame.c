/* flame.c - stacks merged into a tree: the model of flame graph, icicle, reverse and sandwich */
#include "flamescope/flame/flame.h"

#include "base/saturated.h"
#include "flamescope/query/internal.h"
#include "flamescope/query/query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int flame_walk(const struct flame *flame, const struct flame_visitor *visitor)
{
	const struct flame_node *nodes = flame->nodes;
	uint32_t at = nodes[0].first_child;

	while (at != FLAME_NONE) {
		int r = visitor->enter(visitor->data, &nodes[at], at);

		if (r != 0)
			return r;
		if (nodes[at].first_child != FLAME_NONE) {
			at = nodes[at].first_child;
			continue;
		}
		visitor->leave(visitor->data, &nodes[at], at);
		while (at != 0 && nodes[at].next == FLAME_NONE) {
			at = nodes[at].parent;
			if (at != 0)
				visitor->leave(visitor->data, &nodes[at], at);
		}
		at = nodes[at].next;
	}
	return 0;
}

/* ORDER gets the used nodes by their parents; ENDS (zeroed, one a node) where a parent's end. */
static size_t order_by_parent(const struct selection *selection, const uint32_t *used,
			      uint32_t *ends, uint32_t *order)
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

/*
 * Whether two used nodes have the same parent and the same frame: 1, 0, -ENOMEM.  It takes some 10
 * ns a node, where a map of all nodes takes 60 and more.
 */
static int has_duplicate_children(const struct selection *selection, const uint32_t *used)
{
	const struct profile_node *nodes = selection->nodes;
	const size_t n_frames = selection->profile->n_frames + selection->n_labels;
	uint32_t *ends = calloc(selection->n_nodes, sizeof(*ends));
	uint32_t *order = calloc(selection->n_nodes, sizeof(*order));
	uint32_t *marks = calloc(n_frames + 1, sizeof(*marks)); /* the last parent, and one more */
	int r = ends && order && marks ? 0 : -ENOMEM;
	size_t n = r == 0 ? order_by_parent(selection, used, ends, order) : 0;

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

/* Steps along reversed stacks: with more, stacks of 100,000 frames would take minutes. */
enum { MAX_STEPS = STACK_TREE_MAX_NODES };

/* Where a stack of the selection is in the graph: not searched, nowhere, to be found, a node + 3.
 */
enum place { PLACE_UNUSED = 0, PLACE_NOWHERE = 1, PLACE_SEEN = 2, PLACE_FIRST = 3 };

struct building {
	const struct selection *selection;
	uint8_t *around;  /* one a frame: stacks begin at it; NULL: at their end */
	uint32_t *places; /* one a node of the selection's */
	bool as_is;       /* no two places are to be merged */
	bool in_rows;     /* nor are they to be sorted */
	uint32_t cut;
	struct stack_tree tree;
};

/* Below its caller's place; with a frame to start at, from its outermost place on. */
static int place_call(struct building *building, uint32_t node)
{
	const struct profile_node *at = &building->selection->nodes[node];
	uint32_t caller = building->places[at->parent];
	uint32_t place;
	int r;

	if (caller == PLACE_NOWHERE && !(building->around && building->around[at->frame])) {
		building->places[node] = PLACE_NOWHERE;
		return 0;
	}
	caller = caller == PLACE_NOWHERE ? 0 : caller - PLACE_FIRST;
	r = building->as_is ? stack_tree_add(&building->tree, caller, at->frame, &place)
			    : stack_tree_child(&building->tree, caller, at->frame, &place);
	building->places[node] = place + PLACE_FIRST;
	return r;
}

static int place_calls(struct building *building)
{
	const struct selection *selection = building->selection;
	uint32_t *places = building->places;
	int r = 0;

	for (size_t i = 0; i < selection->n; i++)
		places[selection->stacks[i]] = PLACE_SEEN;
	for (size_t node = selection->n_nodes; node-- > 1;) {
		if (places[node] != PLACE_UNUSED)
			places[selection->nodes[node].parent] = PLACE_SEEN;
	}
	places[0] = building->around ? PLACE_NOWHERE : PLACE_FIRST;
	building->in_rows = !building->around && selection->profile->in_rows &&
			    selection->nodes == selection->profile->nodes;
	building->as_is = building->in_rows;
	if (!building->around && !building->in_rows) {
		r = has_duplicate_children(selection, places);
		building->as_is = r == 0;
	}
	r = r < 0 ? r : 0;
	if (building->as_is)
		r = stack_tree_reserve(&building->tree, selection->n_nodes);
	for (size_t node = 1; r == 0 && node < selection->n_nodes; node++) {
		if (places[node] != PLACE_UNUSED)
			r = place_call(building, (uint32_t)node);
	}
	return r;
}

/* Where each reversed stack begins: at its end, or at the outermost place of a frame (0: none). */
static uint32_t *find_starts(const struct building *building)
{
	const struct selection *selection = building->selection;
	uint32_t *starts = calloc(selection->n_nodes, sizeof(*starts));

	for (size_t node = 1; starts && node < selection->n_nodes; node++) {
		const struct profile_node *at = &selection->nodes[node];

		if (building->around && starts[at->parent] != 0)
			starts[node] = starts[at->parent];
		else if (!building->around || building->around[at->frame])
			starts[node] = (uint32_t)node;
	}
	return starts;
}

/* How far stacks may go so that all of them together are within MAX_STEPS. */
static int limit_steps(struct building *building, const uint32_t *starts)
{
	const struct selection *selection = building->selection;
	uint32_t *depths = calloc(selection->n_nodes, sizeof(*depths));
	uint64_t steps = 0;
	size_t n = 0;

	if (!depths)
		return -ENOMEM;
	for (size_t node = 1; node < selection->n_nodes; node++)
		depths[node] = depths[selection->nodes[node].parent] + 1;
	for (size_t i = 0; i < selection->n; i++) {
		uint32_t *place = &building->places[selection->stacks[i]];

		if (*place == PLACE_UNUSED) {
			*place = PLACE_SEEN;
			steps += depths[starts[selection->stacks[i]]];
			n++;
		}
	}
	building->cut = steps > MAX_STEPS ? (uint32_t)(MAX_STEPS / n) + 1 : 0;
	free(depths);
	return 0;
}

static int place_reversed(struct building *building, uint32_t stack, uint32_t start)
{
	const struct profile_node *nodes = building->selection->nodes;
	uint32_t left = building->cut ? building->cut : UINT32_MAX;
	uint32_t at = 0;
	int r = 0;

	for (; r == 0 && start != 0 && left > 0; left--) {
		r = stack_tree_child(&building->tree, at, nodes[start].frame, &at);
		start = nodes[start].parent;
	}
	building->places[stack] = at + PLACE_FIRST;
	return r;
}

static int place_all_reversed(struct building *building)
{
	const struct selection *selection = building->selection;
	uint32_t *starts = find_starts(building);
	int r = starts ? limit_steps(building, starts) : -ENOMEM;

	for (size_t i = 0; r == 0 && i < selection->n; i++) {
		uint32_t stack = selection->stacks[i];

		if (building->places[stack] != PLACE_SEEN)
			continue;
		if (starts[stack] == 0 && building->around)
			building->places[stack] = PLACE_NOWHERE;
		else
			r = place_reversed(building, stack, starts[stack]);
	}
	free(starts);
	return r;
}

static void add_samples(const struct building *building, struct flame_node *nodes)
{
	const struct selection *selection = building->selection;

	for (size_t i = 0; i < selection->n; i++) {
		uint32_t place = building->places[selection->stacks[i]];
		int64_t value = selection->values[i];
		struct flame_node *node;

		if (place == PLACE_NOWHERE)
			continue;
		node = &nodes[place - PLACE_FIRST];
		node->self_samples++;
		if (value < 0)
			node->self_loss = saturated_add(node->self_loss, 0 - (uint64_t)value);
		else
			node->self_gain = saturated_add(node->self_gain, (uint64_t)value);
	}
}

/*
 * A node's number is above its parent's: from the last one on, each is whole when it is added, and
 * put before its siblings so far.
 */
static void add_to_parents(struct flame *flame)
{
	for (size_t i = flame->n_nodes; i-- > 0;) {
		struct flame_node *node = &flame->nodes[i];
		struct flame_node *parent = &flame->nodes[node->parent];

		node->gain = saturated_add(node->gain, node->self_gain);
		node->loss = saturated_add(node->loss, node->self_loss);
		node->samples += node->self_samples;
		if (i == 0)
			break;
		parent->gain = saturated_add(parent->gain, node->gain);
		parent->loss = saturated_add(parent->loss, node->loss);
		parent->samples += node->samples;
		node->next = parent->first_child;
		parent->first_child = (uint32_t)i;
	}
}

/* Row by row, and PLACES with them. */
static int sort_tree(struct building *building)
{
	struct stack_tree *tree = &building->tree;
	const size_t n = building->selection->n_nodes;
	uint32_t *moved = calloc(tree->n, sizeof(*moved));
	const struct flame_names names = flame_names_of(building->selection);
	int r = moved ? flame_rows(&names, tree->nodes, tree->n, moved) : -ENOMEM;

	for (size_t i = 0; r == 0 && i < n; i++)
		if (building->places[i] >= PLACE_FIRST)
			building->places[i] =
				moved[building->places[i] - PLACE_FIRST] + PLACE_FIRST;
	free(moved);
	return r;
}

static int make_nodes(struct building *building, struct flame *flame)
{
	const struct stack_tree *tree = &building->tree;
	int r = building->in_rows ? 0 : sort_tree(building);

	if (r < 0)
		return r;
	flame->cut = building->cut;
	flame->n_nodes = tree->n;
	flame->nodes = calloc(tree->n, sizeof(*flame->nodes));
	if (!flame->nodes)
		return -ENOMEM;
	for (size_t i = 1; i < tree->n; i++) {
		struct flame_node *node = &flame->nodes[i];

		node->frame = tree->nodes[i].frame;
		node->parent = tree->nodes[i].parent;
		node->depth = flame->nodes[node->parent].depth + 1;
	}
	flame->depth = flame->nodes[tree->n - 1].depth;
	add_samples(building, flame->nodes);
	add_to_parents(flame);
	return 0;
}

/* One byte a frame: whether it has the name. */
static uint8_t *frames_named(const struct selection *selection, const char *name)
{
	const size_t n = selection->profile->n_frames + selection->n_labels;
	uint8_t *named = calloc(n + 1, 1);

	for (size_t i = 0; named && i < n; i++)
		named[i] = strcmp(selection_frame_name(selection, (uint32_t)i), name) == 0;
	return named;
}

int flame_make(const struct selection *selection, enum flame_order order, const char *around,
	       struct flame **ret_flame)
{
	struct building building = {.selection = selection};
	struct flame *flame = calloc(1, sizeof(*flame));
	int r = flame ? stack_tree_init(&building.tree) : -ENOMEM;

	if (r == 0 && around) {
		building.around = frames_named(selection, around);
		r = building.around ? 0 : -ENOMEM;
	}

	if (r == 0) {
		flame->selection = selection;
		building.places = calloc(selection->n_nodes, sizeof(*building.places));
		r = building.places ? 0 : -ENOMEM;
	}
	if (r == 0)
		r = order == FLAME_CALLS ? place_calls(&building) : place_all_reversed(&building);
	if (r == 0)
		r = make_nodes(&building, flame);
	stack_tree_release(&building.tree);
	free(building.around);
	free(building.places);
	if (r < 0)
		flame_free(flame);
	else
		*ret_flame = flame;
	return r;
}

void flame_free(struct flame *flame)
{
	if (!flame)
		return;
	free(flame->nodes);
	free(flame);
}
