/* functions.c - what is known of each function, wherever it is in the stacks */
#include "flamescope/flame/flame.h"

#include "base/saturated.h"

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

static int compare_functions(const void *left, const void *right)
{
	const struct flame_function *a = left;
	const struct flame_function *b = right;
	uint64_t a_total = saturated_add(a->gain, a->loss);
	uint64_t b_total = saturated_add(b->gain, b->loss);

	if (a_total != b_total)
		return a_total < b_total ? 1 : -1;
	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return (a->frame > b->frame) - (a->frame < b->frame);
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
	int r = flame_make(selection, FLAME_CALLS, UINT32_MAX, &flame);

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
