/* stack_groups.c - the values of dimensions as outermost frames of stacks */
#include "flamescope/query/stack_groups.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of all rows: 32 MiB.  A row is four times as quick as the map, which misses every cache. */
enum { MAX_ROW_NODES = 8 * 1024 * 1024 };

/* As a graph shows it: samples that say nothing need a name there, too. */
static char *make_label(const char *dimension, const char *value)
{
	char *label = NULL;

	if (*value)
		return strdup(value);
	return asprintf(&label, "[no %s]", dimension) < 0 ? NULL : label;
}

static int add_labels(struct stack_groups *groups, const struct dimension *dimension)
{
	char **labels = realloc(groups->labels,
				(groups->n_labels + dimension->n_values + 1) * sizeof(*labels));

	if (!labels)
		return -ENOMEM;
	groups->labels = labels;
	for (size_t i = 0; i < dimension->n_values; i++) {
		char *label = make_label(dimension->name, dimension->labels[i]);

		if (!label)
			return -ENOMEM;
		groups->labels[groups->n_labels++] = label;
	}
	return 0;
}

int stack_groups_init(struct stack_groups *groups, const struct profile *profile,
		      const struct query *query, struct err *err)
{
	int r = 0;

	*groups = (struct stack_groups){0};
	if (query->n_groups > QUERY_MAX_GROUPS) {
		(void)err_set(err, 0, "more than %d groups", QUERY_MAX_GROUPS);
		return -E2BIG;
	}
	if (query->n_groups == 0)
		return 0;
	for (size_t i = 0; i < query->n_groups; i++) {
		r = dimension_init(&groups->dimensions[i], profile, query->groups[i],
				   query_delta_metric(query), err);
		if (r < 0)
			return r;
		groups->n = i + 1;
		groups->first_label[i] = (uint32_t)(profile->n_frames + groups->n_labels);
		r = add_labels(groups, &groups->dimensions[i]);
		if (r < 0)
			return err_set(err, -r, "the groups of a query");
	}
	/* rules make no more nodes than there are */
	groups->row_nodes = profile->n_nodes;
	groups->max_rows = MAX_ROW_NODES / (profile->n_nodes + 1);
	groups->rows = calloc(groups->max_rows + 1, sizeof(*groups->rows));
	r = groups->rows ? stack_tree_init(&groups->tree) : -ENOMEM;
	if (r == 0)
		r = pair_map_init(&groups->row_of);
	if (r == 0)
		r = pair_map_init(&groups->places);
	return r < 0 ? err_set(err, -r, "the groups of a query") : 0;
}

void stack_groups_release(struct stack_groups *groups)
{
	for (size_t i = 0; i < groups->n; i++)
		dimension_release(&groups->dimensions[i]);
	for (size_t i = 0; i < groups->n_labels; i++)
		free(groups->labels[i]);
	free(groups->labels);
	free(groups->path.nodes);
	stack_tree_release(&groups->tree);
	pair_map_release(&groups->places);
	pair_map_release(&groups->row_of);
	for (size_t i = 0; i < groups->n_rows; i++)
		free(groups->rows[i]);
	free(groups->rows);
	*groups = (struct stack_groups){0};
}

static int find_group(struct stack_groups *groups, size_t sample, uint32_t *ret_group)
{
	uint32_t group = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < groups->n; i++)
		r = stack_tree_child(&groups->tree, group,
				     groups->first_label[i] +
					     dimension_value(&groups->dimensions[i], sample),
				     &group);
	*ret_group = group;
	return r;
}

/* A group's row; NULL in *RET_ROW: it has none. */
static int find_row(struct stack_groups *groups, uint32_t group, uint32_t **ret_row)
{
	uint32_t *number = pair_map_at(&groups->row_of, group, 0);
	uint32_t *row;

	*ret_row = NULL;
	if (!number)
		return -ENOMEM;
	if (*number == 0 && groups->n_rows < groups->max_rows) {
		row = calloc(groups->row_nodes, sizeof(*row));
		if (!row)
			return -ENOMEM;
		groups->rows[groups->n_rows++] = row;
		*number = (uint32_t)groups->n_rows;
	} else if (*number == 0) {
		*number = UINT32_MAX;
	}
	if (*number != UINT32_MAX)
		*ret_row = groups->rows[*number - 1];
	return 0;
}

/* Where a node's place below a group is, or is to be written; NULL: no memory. */
static uint32_t *place_of(struct stack_groups *groups, uint32_t *row, uint32_t group, uint32_t node)
{
	return row ? &row[node] : pair_map_at(&groups->places, group, node);
}

int stack_groups_place(struct stack_groups *groups, const struct profile_node *nodes,
		       uint32_t stack, size_t sample, uint32_t *ret_node)
{
	uint32_t node = stack;
	uint32_t *row = NULL;
	uint32_t group;
	uint32_t at;
	int r = find_group(groups, sample, &group);

	if (r == 0)
		r = find_row(groups, group, &row);
	if (r < 0)
		return r;
	/* Up to what the group has already, and down again. */
	groups->path.n = 0;
	at = group;
	for (; node != 0; node = nodes[node].parent) {
		const uint32_t *place = place_of(groups, row, group, node);

		if (!place)
			return -ENOMEM;
		if (*place != 0) {
			at = *place;
			break;
		}
		if (stack_path_push(&groups->path, node) < 0)
			return -ENOMEM;
	}
	while (groups->path.n > 0) {
		uint32_t below = groups->path.nodes[--groups->path.n];
		uint32_t *place = place_of(groups, row, group, below);

		if (!place)
			return -ENOMEM;
		r = stack_tree_add(&groups->tree, at, nodes[below].frame, &at);
		if (r < 0)
			return r;
		*place = at;
	}
	*ret_node = at;
	return 0;
}
