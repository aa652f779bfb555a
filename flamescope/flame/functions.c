/* functions.c - functions, and calls between them, wherever they are in the stacks */
#include "flamescope/flame/flame.h"

#include "base/saturated.h"
#include "flamescope/pair_map.h"

#include <errno.h>
#include <stdlib.h>

struct table {
	size_t n_frames; /* of the profile: above are labels */
	const struct flame_node *nodes;
	struct flame_function *functions; /* by frame */
	uint32_t *open;                   /* times that it is on the way to the node, by frame */
};

/* A function that calls itself has the outer call's total: the inner one's is part of it. */
static int enter(void *data, const struct flame_node *node, uint32_t number)
{
	struct table *table = data;
	struct flame_function *function = &table->functions[node->frame];

	(void)number;
	function->self_gain = saturated_add(function->self_gain, node->self_gain);
	function->self_loss = saturated_add(function->self_loss, node->self_loss);
	function->self_samples += node->self_samples;
	if (node->depth > 1 && table->nodes[node->parent].frame < table->n_frames)
		function->calls += node->samples;
	if (table->open[node->frame]++ > 0)
		return 0;
	function->gain = saturated_add(function->gain, node->gain);
	function->loss = saturated_add(function->loss, node->loss);
	function->samples += node->samples;
	return 0;
}

static void leave(void *data, const struct flame_node *node, uint32_t number)
{
	struct table *table = data;

	(void)number;
	table->open[node->frame]--;
}

struct totals {
	uint64_t gain, loss, samples;
};

/* The largest first. */
static int compare_totals(const struct totals *a, const struct totals *b)
{
	uint64_t a_total = saturated_add(a->gain, a->loss);
	uint64_t b_total = saturated_add(b->gain, b->loss);

	if (a_total != b_total)
		return a_total < b_total ? 1 : -1;
	return (a->samples < b->samples) - (a->samples > b->samples);
}

static int compare_functions(const void *left, const void *right)
{
	const struct flame_function *a = left;
	const struct flame_function *b = right;
	int order = compare_totals(&(struct totals){a->gain, a->loss, a->samples},
				   &(struct totals){b->gain, b->loss, b->samples});

	return order != 0 ? order : (a->frame > b->frame) - (a->frame < b->frame);
}

/* Functions that no sample has go. */
static size_t keep_seen(struct flame_function *functions, size_t n_frames)
{
	size_t n = 0;

	for (size_t i = 0; i < n_frames; i++) {
		if (functions[i].samples == 0)
			continue;
		functions[n] = functions[i];
		functions[n++].frame = (uint32_t)i;
	}
	qsort(functions, n, sizeof(*functions), compare_functions);
	return n;
}

int flame_functions(const struct selection *selection, struct flame_function **ret_functions,
		    size_t *ret_n)
{
	size_t n_frames = selection->profile->n_frames + selection->n_labels;
	struct table table = {.n_frames = selection->profile->n_frames};
	struct flame_visitor visitor = {.data = &table, .enter = enter, .leave = leave};
	struct flame *flame = NULL;
	int r = flame_make(selection, FLAME_CALLS, NULL, &flame);

	if (r < 0)
		return r;
	table.nodes = flame->nodes;
	table.functions = calloc(n_frames + 1, sizeof(*table.functions));
	table.open = calloc(n_frames + 1, sizeof(*table.open));
	if (table.functions && table.open) {
		(void)flame_walk(flame, &visitor);
		*ret_n = keep_seen(table.functions, n_frames);
		*ret_functions = table.functions;
	} else {
		free(table.functions);
		r = -ENOMEM;
	}
	free(table.open);
	flame_free(flame);
	return r;
}

enum { FIRST_EDGES = 1024 };

/* An edge, and how often it is on the way to the node. */
struct open_edge {
	struct flame_edge edge;
	uint32_t open;
};

struct edges {
	size_t n_frames;
	const struct flame_node *nodes;
	struct pair_map map; /* number + 1 of an edge */
	struct open_edge *edges;
	size_t n;
	size_t size;
	uint32_t *edge_of; /* of a node: number + 1 of the edge to it */
};

static int find_edge(struct edges *edges, uint32_t caller, uint32_t callee, uint32_t *ret_number)
{
	uint32_t *number = pair_map_at(&edges->map, caller, callee);

	if (!number)
		return -ENOMEM;
	if (*number == 0) {
		if (edges->n == edges->size) {
			size_t size = edges->size ? edges->size * 2 : FIRST_EDGES;
			struct open_edge *all = realloc(edges->edges, size * sizeof(*all));

			if (!all)
				return -ENOMEM;
			edges->edges = all;
			edges->size = size;
		}
		edges->edges[edges->n++] = (struct open_edge){
			.edge = {.caller = caller, .callee = callee},
		};
		*number = (uint32_t)edges->n;
	}
	*ret_number = *number;
	return 0;
}

static int enter_call(void *data, const struct flame_node *node, uint32_t number)
{
	struct edges *edges = data;
	uint32_t caller = edges->nodes[node->parent].frame;
	struct open_edge *edge;
	int r;

	if (node->parent == 0 || caller >= edges->n_frames || node->frame >= edges->n_frames)
		return 0;
	r = find_edge(edges, caller, node->frame, &edges->edge_of[number]);
	if (r < 0)
		return r;
	edge = &edges->edges[edges->edge_of[number] - 1];
	if (edge->open++ > 0)
		return 0;
	edge->edge.gain = saturated_add(edge->edge.gain, node->gain);
	edge->edge.loss = saturated_add(edge->edge.loss, node->loss);
	edge->edge.samples += node->samples;
	return 0;
}

static void leave_call(void *data, const struct flame_node *node, uint32_t number)
{
	struct edges *edges = data;

	(void)node;
	if (edges->edge_of[number] != 0)
		edges->edges[edges->edge_of[number] - 1].open--;
}

static int compare_edges(const void *left, const void *right)
{
	const struct flame_edge *a = left;
	const struct flame_edge *b = right;
	int order = compare_totals(&(struct totals){a->gain, a->loss, a->samples},
				   &(struct totals){b->gain, b->loss, b->samples});

	if (order != 0)
		return order;
	if (a->caller != b->caller)
		return a->caller > b->caller ? 1 : -1;
	return (a->callee > b->callee) - (a->callee < b->callee);
}

static int find_edges(struct edges *edges, const struct flame *flame)
{
	struct flame_visitor visitor = {.data = edges, .enter = enter_call, .leave = leave_call};
	int r = pair_map_init(&edges->map);

	edges->n_frames = flame->selection->profile->n_frames;
	edges->nodes = flame->nodes;
	edges->edge_of = calloc(flame->n_nodes, sizeof(*edges->edge_of));
	if (r == 0)
		r = edges->edge_of ? flame_walk(flame, &visitor) : -ENOMEM;
	free(edges->edge_of);
	pair_map_release(&edges->map);
	return r;
}

static int sort_edges(const struct edges *edges, struct flame_edge **ret_edges, size_t *ret_n)
{
	struct flame_edge *sorted = calloc(edges->n + 1, sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < edges->n; i++)
		sorted[i] = edges->edges[i].edge;
	qsort(sorted, edges->n, sizeof(*sorted), compare_edges);
	*ret_edges = sorted;
	*ret_n = edges->n;
	return 0;
}

int flame_edges(const struct selection *selection, struct flame_edge **ret_edges, size_t *ret_n)
{
	struct edges edges = {0};
	struct flame *flame = NULL;
	int r = flame_make(selection, FLAME_CALLS, NULL, &flame);

	if (r == 0)
		r = find_edges(&edges, flame);
	flame_free(flame);
	if (r == 0)
		r = sort_edges(&edges, ret_edges, ret_n);
	free(edges.edges);
	return r;
}
