/* flame.c - stacks merged into a tree: the model of flame graph, icicle, reverse and sandwich */
#include "flamescope/flame/flame.h"

#include "base/saturated.h"

#include "flamescope/flame/siblings.h"
#include "flamescope/flame/twins.h"
#include "flamescope/query/stack_tree.h"

#include <errno.h>
#include <stdlib.h>

/* Steps along reversed stacks: with more, stacks of 100,000 frames would take minutes. */
enum { MAX_STEPS = STACK_TREE_MAX_NODES };

/* Where a stack of the selection is in the graph: not asked, nowhere, to be found, a node + 3. */
enum place { PLACE_UNUSED = 0, PLACE_NOWHERE = 1, PLACE_SEEN = 2, PLACE_FIRST = 3 };

struct building {
	const struct selection *selection;
	uint32_t around;
	uint32_t *places; /* one a node of the selection's */
	bool as_is;       /* no two places are to be merged */
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

	if (caller == PLACE_NOWHERE && at->frame != building->around) {
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
	places[0] = building->around == UINT32_MAX ? PLACE_FIRST : PLACE_NOWHERE;
	if (building->around == UINT32_MAX) {
		r = twins_are_there(selection, places);
		building->as_is = r == 0;
	}
	r = r < 0 ? r : 0;
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

		if (building->around != UINT32_MAX && starts[at->parent] != 0)
			starts[node] = starts[at->parent];
		else if (building->around == UINT32_MAX || at->frame == building->around)
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
		if (starts[stack] == 0 && building->around != UINT32_MAX)
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

/* A node's number is above its parent's: from the last one on, each is whole when it is added. */
static void add_up(struct flame *flame)
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
	}
}

static int make_nodes(const struct building *building, struct flame *flame)
{
	const struct stack_tree *tree = &building->tree;

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
		if (node->depth > flame->depth)
			flame->depth = node->depth;
	}
	add_samples(building, flame->nodes);
	add_up(flame);
	return siblings_link(flame);
}

int flame_make(const struct selection *selection, enum flame_order order, uint32_t around,
	       struct flame **ret_flame)
{
	struct building building = {.selection = selection, .around = around};
	struct flame *flame = calloc(1, sizeof(*flame));
	int r = flame ? stack_tree_init(&building.tree) : -ENOMEM;

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
