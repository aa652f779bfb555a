/* diff_picture.c - a comparison as flame graphs: frames are the functions of the comparison */
#include "flamescope/diff/diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* What the flame graphs get their names from. */
struct diff_picture_memory {
	struct profile profile;
	struct selection selection;
};

static int name_functions(const struct diff *diff, struct diff_picture_memory *memory)
{
	struct profile *profile = &memory->profile;
	size_t n = diff->n_functions;

	profile->strings = calloc(n + 1, sizeof(*profile->strings));
	profile->frames = calloc(n + 1, sizeof(*profile->frames));
	if (!profile->strings || !profile->frames)
		return -ENOMEM;
	profile->strings[0] = "";
	for (size_t i = 0; i < n; i++) {
		profile->strings[i + 1] = diff->functions[i].name;
		profile->frames[i].name = (uint32_t)(i + 1);
	}
	profile->n_strings = n + 1;
	profile->n_frames = n;
	memory->selection =
		(struct selection){.profile = profile, .measure = QUERY_VALUE, .unit = "share"};
	return 0;
}

/* Whole numbers that add up: a node's is made of its own and its children's, not rounded itself. */
static int draw_tree(const struct diff_node *nodes, size_t n, const struct selection *names,
		     struct flame *flame, double **ret_change)
{
	double *change = calloc(n, sizeof(*change));

	*ret_change = change;
	flame->nodes = calloc(n, sizeof(*flame->nodes));
	if (!change || !flame->nodes)
		return -ENOMEM;
	flame->selection = names;
	flame->n_nodes = n;
	for (size_t i = n; i-- > 0;) {
		struct flame_node *node = &flame->nodes[i];
		uint64_t self = (uint64_t)llround(nodes[i].self_width * DIFF_PICTURE_WHOLE);

		node->frame = nodes[i].function;
		node->parent = nodes[i].parent;
		node->first_child = nodes[i].first_child;
		node->next = nodes[i].next;
		node->depth = nodes[i].depth;
		node->self_gain = self;
		node->gain += self;
		if (i > 0)
			flame->nodes[nodes[i].parent].gain += node->gain;
		if (node->depth > flame->depth)
			flame->depth = node->depth;
		change[i] = nodes[i].total[DIFF_NEW] - nodes[i].total[DIFF_BASE];
	}
	return 0;
}

int diff_picture_make(const struct diff *diff, struct diff_picture *picture)
{
	struct diff_node *nodes = NULL;
	size_t n = 0;
	int r;

	*picture = (struct diff_picture){.memory = calloc(1, sizeof(*picture->memory))};
	if (!picture->memory)
		return -ENOMEM;
	r = name_functions(diff, picture->memory);
	if (r == 0)
		r = draw_tree(diff->nodes, diff->n_nodes, &picture->memory->selection,
			      &picture->calls, &picture->change);
	if (r == 0)
		r = diff_reverse(diff, &nodes, &n);
	if (r == 0)
		r = draw_tree(nodes, n, &picture->memory->selection, &picture->reverse,
			      &picture->reverse_change);
	free(nodes);
	return r;
}

void diff_picture_release(struct diff_picture *picture)
{
	if (picture->memory) {
		free((void *)picture->memory->profile.strings);
		free(picture->memory->profile.frames);
	}
	free(picture->memory);
	free(picture->calls.nodes);
	free(picture->reverse.nodes);
	free(picture->change);
	free(picture->reverse_change);
	*picture = (struct diff_picture){0};
}
