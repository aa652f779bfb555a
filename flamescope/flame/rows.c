/* rows.c - the nodes of stacks row by row, siblings in the order of their names */
#include "flamescope/flame/flame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct named {
	const char *name;
	uint32_t frame;
};

/* The nodes as they are, and what is found out about them on the way. */
struct rows {
	const struct flame_names *names;
	const struct profile_node *nodes;
	size_t n;
	uint32_t *ranks; /* one a frame, by name, from 1 on; 0: it does not occur */
	size_t n_ranks;
	uint32_t *order; /* nodes by rank; later row by row */
	uint32_t *first_child, *next;
};

static int compare_named(const void *left, const void *right)
{
	const struct named *a = left;
	const struct named *b = right;
	int order = strcmp(a->name, b->name);

	return order != 0 ? order : (a->frame > b->frame) - (a->frame < b->frame);
}

static int rank_frames(struct rows *rows)
{
	struct named *named;
	size_t n = 0;

	for (size_t i = 1; i < rows->n; i++)
		n += rows->ranks[rows->nodes[i].frame]++ == 0;
	named = calloc(n + 1, sizeof(*named));
	if (!named)
		return -ENOMEM;
	rows->n_ranks = n;
	n = 0;
	for (size_t i = 1; i < rows->n; i++) {
		uint32_t frame = rows->nodes[i].frame;

		if (rows->ranks[frame] == 0)
			continue;
		rows->ranks[frame] = 0;
		named[n].name = rows->names->name_of(rows->names->of, frame);
		named[n++].frame = frame;
	}
	qsort(named, n, sizeof(*named), compare_named);
	for (size_t i = 0; i < n; i++)
		rows->ranks[named[i].frame] = (uint32_t)i + 1;
	free(named);
	return 0;
}

static int order_by_rank(struct rows *rows)
{
	uint32_t *first = calloc(rows->n_ranks + 2, sizeof(*first)); /* place of a rank */

	if (!first)
		return -ENOMEM;
	for (size_t i = 1; i < rows->n; i++)
		first[rows->ranks[rows->nodes[i].frame] + 1]++;
	for (size_t i = 1; i < rows->n_ranks + 2; i++)
		first[i] += first[i - 1];
	for (size_t i = 1; i < rows->n; i++)
		rows->order[first[rows->ranks[rows->nodes[i].frame]]++] = (uint32_t)i;
	free(first);
	return 0;
}

/* Each is put before its siblings so far; then rows follow each other. */
static void order_by_row(struct rows *rows)
{
	size_t filled = 1;

	for (size_t i = rows->n - 1; i-- > 0;) {
		uint32_t node = rows->order[i];
		uint32_t parent = rows->nodes[node].parent;

		rows->next[node] = rows->first_child[parent];
		rows->first_child[parent] = node;
	}
	rows->order[0] = 0;
	for (size_t i = 0; i < filled; i++) {
		uint32_t child = rows->first_child[rows->order[i]];

		for (; child; child = rows->next[child])
			rows->order[filled++] = child;
	}
}

int flame_rows(const struct flame_names *names, struct profile_node *nodes, size_t n,
	       uint32_t *places)
{
	struct rows rows = {.names = names,
			    .nodes = nodes,
			    .n = n,
			    .ranks = calloc(names->n + 1, sizeof(*rows.ranks)),
			    .order = calloc(n, sizeof(*rows.order)),
			    .first_child = calloc(n, sizeof(*rows.first_child)),
			    .next = calloc(n, sizeof(*rows.next))};
	struct profile_node *sorted = calloc(n, sizeof(*sorted));
	int r = rows.ranks && rows.order && rows.first_child && rows.next && sorted ? 0 : -ENOMEM;

	if (r == 0)
		r = rank_frames(&rows);
	if (r == 0)
		r = order_by_rank(&rows);
	if (r == 0) {
		order_by_row(&rows);
		for (size_t i = 0; i < n; i++)
			places[rows.order[i]] = (uint32_t)i;
		for (size_t i = 0; i < n; i++)
			sorted[places[i]] = (struct profile_node){.parent = places[nodes[i].parent],
								  .frame = nodes[i].frame};
		memcpy(nodes, sorted, n * sizeof(*nodes));
	}
	free(sorted);
	free(rows.next);
	free(rows.first_child);
	free(rows.order);
	free(rows.ranks);
	return r;
}

static const char *name_of(const void *selection, uint32_t frame)
{
	return selection_frame_name(selection, frame);
}

struct flame_names flame_names_of(const struct selection *selection)
{
	return (struct flame_names){.of = selection,
				    .name_of = name_of,
				    .n = selection->profile->n_frames + selection->n_labels};
}

/* Whether two nodes beside each other are of the same caller and function. */
static bool has_twins(const struct profile *profile)
{
	const struct profile_node *nodes = profile->nodes;

	for (size_t i = 2; i < profile->n_nodes; i++)
		if (nodes[i].parent == nodes[i - 1].parent && nodes[i].frame == nodes[i - 1].frame)
			return true;
	return false;
}

int flame_sort_profile(struct profile *profile)
{
	const struct selection all = {.profile = profile};
	const struct flame_names names = flame_names_of(&all);
	uint32_t *places = calloc(profile->n_nodes + 1, sizeof(*places));
	int r = places ? 0 : -ENOMEM;

	if (r == 0 && profile->n_nodes)
		r = flame_rows(&names, profile->nodes, profile->n_nodes, places);
	for (size_t i = 0; r == 0 && i < profile->n_samples; i++)
		profile->stacks[i] = places[profile->stacks[i]];
	profile->in_rows = r == 0 && !has_twins(profile);
	free(places);
	return r;
}
