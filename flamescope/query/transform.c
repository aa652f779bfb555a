/* transform.c - what a reader does to the stacks of a selection, one step after the other */
#include "flamescope/query/query.h"

#include "flamescope/query/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a node becomes that its samples are left out with. */
#define OUT UINT32_MAX

struct transform {
	const struct selection *from;
	enum transform_kind kind;
	uint8_t *wanted; /* one a frame: it is what the transform is about */
	uint32_t *now;   /* one a node */
	struct stack_tree tree;
};

static const char *module_of(const struct selection *selection, uint32_t frame)
{
	const struct profile *profile = selection->profile;

	return frame < profile->n_frames ? profile->strings[profile->frames[frame].module] : "";
}

static int find_frames(struct transform *transform, const char *of)
{
	const struct selection *from = transform->from;
	const size_t n = from->profile->n_frames + from->n_labels;

	transform->wanted = calloc(n + 1, 1);
	if (!transform->wanted)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const char *text = transform->kind == TRANSFORM_HIDE
					   ? module_of(from, (uint32_t)i)
					   : selection_frame_name(from, (uint32_t)i);

		transform->wanted[i] = strcmp(text, of) == 0;
	}
	if (transform->kind == TRANSFORM_COLLAPSE && *of == '\0')
		memset(transform->wanted, 1, n);
	return 0;
}

/* What a node becomes whose caller became CALLER. */
static int place(struct transform *transform, uint32_t frame, uint32_t caller, uint32_t *ret_node)
{
	const bool wanted = transform->wanted[frame];

	*ret_node = caller;
	switch (transform->kind) {
	case TRANSFORM_FOCUS:
		if (caller == OUT && !wanted)
			return 0;
		caller = caller == OUT ? 0 : caller;
		break;
	case TRANSFORM_DROP:
		if (caller == OUT || wanted) {
			*ret_node = OUT;
			return 0;
		}
		break;
	case TRANSFORM_MERGE:
	case TRANSFORM_HIDE:
		if (wanted)
			return 0;
		break;
	case TRANSFORM_COLLAPSE:
		if (wanted && caller != 0 && transform->tree.nodes[caller].frame == frame)
			return 0;
		break;
	}
	return stack_tree_child(&transform->tree, caller, frame, ret_node);
}

static int place_all(struct transform *transform)
{
	const struct selection *from = transform->from;
	int r = stack_tree_init(&transform->tree);

	transform->now = calloc(from->n_nodes + 1, sizeof(*transform->now));
	if (r == 0 && !transform->now)
		r = -ENOMEM;
	if (r < 0)
		return r;
	/* samples without a stack have no function to focus on */
	transform->now[0] = transform->kind == TRANSFORM_FOCUS ? OUT : 0;
	for (size_t i = 1; r == 0 && i < from->n_nodes; i++)
		r = place(transform, from->nodes[i].frame, transform->now[from->nodes[i].parent],
			  &transform->now[i]);
	return r;
}

/* Whatever a selection says besides its samples; its own copy of the labels. */
static struct selection *copy_facts(const struct selection *from)
{
	struct selection *to = selection_new(from->profile);

	if (!to || selection_labels(to, from->labels, from->n_labels) < 0) {
		selection_free(to);
		return NULL;
	}
	to->measure = from->measure;
	to->unit = from->unit;
	to->noun = from->noun;
	to->delta_metric = from->delta_metric;
	to->is_signed = from->is_signed;
	to->n_absent = from->n_absent;
	to->n_idle = from->n_idle;
	to->n_others = from->n_others;
	to->event = from->event;
	selection_same_time(to, from);
	return to;
}

static int take_samples(const struct transform *transform, struct selection *to)
{
	const struct selection *from = transform->from;

	to->samples = calloc(from->n + 1, sizeof(*to->samples));
	to->stacks = calloc(from->n + 1, sizeof(*to->stacks));
	to->values = calloc(from->n + 1, sizeof(*to->values));
	if (from->spans)
		to->spans = calloc(from->n + 1, sizeof(*to->spans));
	if (!to->samples || !to->stacks || !to->values || (from->spans && !to->spans))
		return -ENOMEM;
	for (size_t i = 0; i < from->n; i++) {
		uint32_t stack = transform->now[from->stacks[i]];

		if (stack == OUT)
			continue;
		if (from->spans)
			to->spans[to->n] = from->spans[i];
		to->samples[to->n] = from->samples[i];
		to->stacks[to->n] = stack;
		to->values[to->n++] = from->values[i];
	}
	return 0;
}

int selection_transform(const struct selection *from, enum transform_kind kind, const char *of,
			struct selection **ret_selection, struct err *err)
{
	struct transform transform = {.from = from, .kind = kind};
	struct selection *to = copy_facts(from);
	int r = to ? find_frames(&transform, of) : -ENOMEM;

	if (r == 0)
		r = place_all(&transform);
	if (r == 0)
		r = take_samples(&transform, to);
	if (r == 0)
		selection_tree(to, &transform.tree);
	else
		stack_tree_release(&transform.tree);
	free(transform.wanted);
	free(transform.now);
	if (r < 0) {
		selection_free(to);
		return err_set(err, -r, "change these stacks");
	}
	*ret_selection = to;
	return 0;
}
