/* functions.c - what is known of each function, wherever it is in the stacks */
#include "base/cleanup.h"
#include "flamescope/flame/flame.h"
#include "flamescope/flame/walk.h"

#include <errno.h>
#include <stdlib.h>

struct table {
	size_t n_frames; /* of the profile: above are labels */
	const struct flame_node *nodes;
	struct flame_function *functions; /* by frame */
	uint32_t *open;                   /* times that it is on the way to the node, by frame */
};

static uint64_t add(uint64_t sum, uint64_t more)
{
	return more > UINT64_MAX - sum ? UINT64_MAX : sum + more;
}

/* A function that calls itself has the outer call's total: the inner one's is part of it. */
static int enter(void *data, const struct flame_node *node, uint32_t number)
{
	struct table *table = data;
	struct flame_function *function = &table->functions[node->frame];

	(void)number;
	function->self_gain = add(function->self_gain, node->self_gain);
	function->self_loss = add(function->self_loss, node->self_loss);
	function->self_samples += node->self_samples;
	if (node->depth > 1 && table->nodes[node->parent].frame < table->n_frames)
		function->calls += node->samples;
	if (table->open[node->frame]++ > 0)
		return 0;
	function->gain = add(function->gain, node->gain);
	function->loss = add(function->loss, node->loss);
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
	uint64_t a_total = add(a->gain, a->loss);
	uint64_t b_total = add(b->gain, b->loss);

	if (a_total != b_total)
		return a_total < b_total ? 1 : -1;
	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return (a->frame > b->frame) - (a->frame < b->frame);
}

static int fill(struct table *table, const struct flame *flame)
{
	const struct selection *selection = flame->selection;
	size_t n = selection->profile->n_frames + selection->n_labels;
	struct flame_visitor visitor = {.data = table, .enter = enter, .leave = leave};
	_cleanup_free_ uint32_t *open = calloc(n + 1, sizeof(*open));

	table->n_frames = selection->profile->n_frames;
	table->nodes = flame->nodes;
	table->functions = calloc(n + 1, sizeof(*table->functions));
	table->open = open;
	if (!table->functions || !open)
		return -ENOMEM;
	return flame_walk(flame, &visitor);
}

int flame_functions(const struct selection *selection, struct flame_function **ret_functions,
		    size_t *ret_n)
{
	size_t n_frames = selection->profile->n_frames + selection->n_labels;
	struct table table = {0};
	struct flame *flame = NULL;
	size_t n = 0;
	int r = flame_make(selection, FLAME_CALLS, UINT32_MAX, &flame);

	if (r == 0)
		r = fill(&table, flame);
	flame_free(flame);
	if (r < 0) {
		free(table.functions);
		return r;
	}
	for (size_t i = 0; i < n_frames; i++) {
		if (table.functions[i].samples == 0)
			continue;
		table.functions[n] = table.functions[i];
		table.functions[n++].frame = (uint32_t)i;
	}
	qsort(table.functions, n, sizeof(*table.functions), compare_functions);
	*ret_functions = table.functions;
	*ret_n = n;
	return 0;
}
