/* flame_look.c - what of a node its colour goes by, and what the colours of a graph mean */
#include "flamescope/draw/internal.h"

#include "base/saturated.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t n_frames(const struct selection *selection)
{
	return selection->profile->n_frames + selection->n_labels;
}

static const struct profile_tag *state_tag(const struct profile *profile)
{
	for (size_t i = 0; i < profile->n_tags; i++)
		if (strcmp(profile->strings[profile->tags[i].name], "state") == 0)
			return &profile->tags[i];
	return NULL;
}

static uint64_t size_of(int64_t value)
{
	return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

/* What samples of one state add up to at each frame; OF_NODE is room for a sum a node. */
static void add_state(const struct selection *selection, const struct profile_tag *tag,
		      uint32_t code, uint64_t *of_node, uint64_t *of_frame)
{
	memset(of_node, 0, selection->n_nodes * sizeof(*of_node));
	memset(of_frame, 0, n_frames(selection) * sizeof(*of_frame));
	for (size_t i = 0; i < selection->n; i++)
		if (tag->codes[selection->samples[i]] == code)
			of_node[selection->stacks[i]] = saturated_add(
				of_node[selection->stacks[i]], size_of(selection->values[i]));
	for (size_t node = selection->n_nodes; node-- > 1;) {
		const struct profile_node *it = &selection->nodes[node];

		of_node[it->parent] = saturated_add(of_node[it->parent], of_node[node]);
		of_frame[it->frame] = saturated_add(of_frame[it->frame], of_node[node]);
	}
}

/* Of each frame the state that most of its samples are in. */
static int find_states(struct flame_looks *looks)
{
	const struct selection *selection = looks->flame->selection;
	const struct profile_tag *tag = state_tag(selection->profile);
	size_t n = n_frames(selection);
	uint64_t *of_node = calloc(selection->n_nodes + 1, sizeof(*of_node));
	uint64_t *of_frame = calloc(n + 1, sizeof(*of_frame));
	uint64_t *most = calloc(n + 1, sizeof(*most));
	int r = of_node && of_frame && most ? 0 : -ENOMEM;

	for (uint32_t code = 1; r == 0 && tag && code < tag->n_values; code++) {
		add_state(selection, tag, code, of_node, of_frame);
		for (size_t i = 0; i < n; i++) {
			if (of_frame[i] <= most[i])
				continue;
			most[i] = of_frame[i];
			looks->states[i] = selection->profile->strings[tag->values[code]];
		}
	}
	free(of_node);
	free(of_frame);
	free(most);
	return r;
}

/*
 * The module that an inlined function at the root has elsewhere in the stacks: the graph of what it
 * calls begins with it.
 */
static const char *module_above(const struct flame *flame)
{
	const struct selection *selection = flame->selection;
	const struct profile_frame *frames = selection->profile->frames;
	uint32_t frame = flame->nodes[flame->nodes[0].first_child].frame;
	uint32_t node = 1;

	if (flame->nodes[0].first_child == FLAME_NONE)
		return "";
	while (node < selection->n_nodes && selection->nodes[node].frame != frame)
		node++;
	while (node && node < selection->n_nodes && frame < selection->profile->n_frames &&
	       frames[frame].inlined) {
		node = selection->nodes[node].parent;
		frame = selection->nodes[node].frame;
	}
	return node && node < selection->n_nodes && frame < selection->profile->n_frames
		       ? selection->profile->strings[frames[frame].module]
		       : "";
}

int flame_looks_init(struct flame_looks *looks, const struct flame *flame, enum flame_order order,
		     enum colour_by by)
{
	*looks = (struct flame_looks){.flame = flame,
				      .order = order,
				      .by = by,
				      .above = order == FLAME_CALLS ? module_above(flame) : ""};
	if (by != COLOUR_BY_STATE)
		return 0;
	looks->states = calloc(n_frames(flame->selection) + 1, sizeof(*looks->states));
	return looks->states ? find_states(looks) : -ENOMEM;
}

void flame_looks_release(struct flame_looks *looks)
{
	free((void *)looks->states);
	*looks = (struct flame_looks){0};
}

static const struct profile_frame *frame_of(const struct flame *flame, uint32_t node)
{
	uint32_t frame = flame->nodes[node].frame;

	if (node == 0 || frame >= flame->selection->profile->n_frames)
		return NULL;
	return &flame->selection->profile->frames[frame];
}

/* Of the nearest caller that was not inlined itself. */
static const char *module_of(const struct flame_looks *looks, uint32_t node)
{
	const struct flame_node *nodes = looks->flame->nodes;
	const struct profile_frame *frame = frame_of(looks->flame, node);

	if (!frame)
		return "";
	while (frame && frame->inlined) {
		node = looks->order == FLAME_REVERSE ? nodes[node].first_child : nodes[node].parent;
		frame = frame_of(looks->flame, node);
	}
	return frame ? looks->flame->selection->profile->strings[frame->module] : looks->above;
}

/* Of the group that a node is in, else of its function. */
static const char *state_of(const struct flame_looks *looks, uint32_t node)
{
	const struct selection *selection = looks->flame->selection;
	const struct flame_node *nodes = looks->flame->nodes;
	uint32_t at = node;

	if (!looks->states || node == 0)
		return "";
	while (at && looks->order == FLAME_CALLS) {
		if (nodes[at].frame >= selection->profile->n_frames &&
		    colour_is_state(selection_frame_name(selection, nodes[at].frame)))
			return selection_frame_name(selection, nodes[at].frame);
		at = nodes[at].parent;
	}
	return looks->states[nodes[node].frame] ? looks->states[nodes[node].frame] : "";
}

struct colour_frame flame_look(const struct flame_looks *looks, uint32_t node)
{
	const struct selection *selection = looks->flame->selection;
	const struct profile_frame *frame = frame_of(looks->flame, node);
	uint32_t number = looks->flame->nodes[node].frame;

	return (struct colour_frame){
		.name = node ? selection_frame_name(selection, number) : "all",
		.module = module_of(looks, node),
		.state = state_of(looks, node),
		.inlined = frame && frame->inlined,
		.is_group = !frame,
	};
}

/* What a frame is called in the legend, and its number there; no length: nothing. */
static void name_key(const struct colour_frame *look, enum colour_by by, struct flame_key *key)
{
	enum colour_family family = colour_family_of(look->module);
	struct colour_frame plain = *look;
	const char *slash = strrchr(look->module, '/');

	plain.inlined = false;
	switch (by) {
	case COLOUR_BY_FAMILY:
		key->text = colour_family_word(family);
		key->number = colour_of_family(family);
		break;
	case COLOUR_BY_STATE:
		key->text = look->state;
		key->number = colour_of_state(look->state);
		break;
	case COLOUR_BY_MODULE:
		key->text = slash ? slash + 1 : look->module;
		key->number = colour_of_frame(&plain, by);
		break;
	case COLOUR_BY_PACKAGE:
		key->len = colour_package(look->name, &key->text);
		key->number = colour_of_frame(&plain, by);
		return;
	default:
		return;
	}
	key->len = strlen(key->text);
}

static void add_key(struct flame_legend *legend, const struct flame_key *key)
{
	for (size_t i = 0; i < legend->n; i++) {
		struct flame_key *it = &legend->keys[i];

		if (it->len == key->len && memcmp(it->text, key->text, key->len) == 0) {
			it->amount = saturated_add(it->amount, key->amount);
			return;
		}
	}
	if (legend->n < FLAME_LEGEND_KEYS)
		legend->keys[legend->n++] = *key;
}

static int by_amount(const void *left, const void *right)
{
	const struct flame_key *a = left;
	const struct flame_key *b = right;

	return a->amount < b->amount ? 1 : a->amount > b->amount ? -1 : 0;
}

static int by_number(const void *left, const void *right)
{
	const struct flame_key *a = left;
	const struct flame_key *b = right;

	return a->number < b->number ? -1 : a->number > b->number;
}

int flame_legend_make(struct flame_legend *legend, const struct flame_looks *looks)
{
	const struct flame *flame = looks->flame;
	size_t n = n_frames(flame->selection);
	uint32_t *first = calloc(n + 1, sizeof(*first));
	uint64_t *area = calloc(n + 1, sizeof(*area));

	legend->n = 0;
	for (uint32_t node = 1; first && area && node < flame->n_nodes; node++) {
		const struct flame_node *it = &flame->nodes[node];

		area[it->frame] = saturated_add(area[it->frame], saturated_add(it->gain, it->loss));
		first[it->frame] = first[it->frame] ? first[it->frame] : node;
	}
	for (size_t i = 0; first && area && i < n; i++) {
		struct flame_key key = {.amount = area[i]};
		struct colour_frame look = flame_look(looks, first[i]);

		if (area[i] && !look.is_group)
			name_key(&look, looks->by, &key);
		if (key.len)
			add_key(legend, &key);
	}
	n = first && area;
	free(first);
	free(area);
	qsort(legend->keys, legend->n, sizeof(*legend->keys), by_amount);
	if (legend->n > FLAME_LEGEND_SHOWN)
		legend->n = FLAME_LEGEND_SHOWN;
	if (looks->by == COLOUR_BY_FAMILY || looks->by == COLOUR_BY_STATE)
		qsort(legend->keys, legend->n, sizeof(*legend->keys), by_number);
	return n ? 0 : -ENOMEM;
}
