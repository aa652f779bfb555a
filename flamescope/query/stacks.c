/* stack_rules.c - which stacks a query takes, and what it makes of them */
#include "flamescope/query/internal.h"

#include "base/function_name.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_NODES = 1024, FIRST_PATH = 256 };

int stack_tree_init(struct stack_tree *tree)
{
	*tree = (struct stack_tree){.n = 1, .size = FIRST_NODES};
	tree->nodes = calloc(tree->size, sizeof(*tree->nodes));
	if (!tree->nodes)
		return -ENOMEM;
	return pair_map_init(&tree->map);
}

void stack_tree_release(struct stack_tree *tree)
{
	free(tree->nodes);
	pair_map_release(&tree->map);
	*tree = (struct stack_tree){0};
}

int stack_tree_reserve(struct stack_tree *tree, size_t n)
{
	struct profile_node *nodes;

	if (n <= tree->size)
		return 0;
	nodes = realloc(tree->nodes, n * sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	tree->nodes = nodes;
	tree->size = n;
	return 0;
}

int stack_tree_add(struct stack_tree *tree, uint32_t parent, uint32_t frame, uint32_t *ret_node)
{
	if (tree->n == STACK_TREE_MAX_NODES)
		return -E2BIG;
	if (tree->n == tree->size && stack_tree_reserve(tree, tree->size * 2) < 0)
		return -ENOMEM;
	tree->nodes[tree->n] = (struct profile_node){.parent = parent, .frame = frame};
	*ret_node = (uint32_t)tree->n++;
	return 0;
}

int stack_tree_child(struct stack_tree *tree, uint32_t parent, uint32_t frame, uint32_t *ret_node)
{
	uint32_t *known = pair_map_at(&tree->map, parent, frame);
	int r;

	if (!known)
		return -ENOMEM;
	if (*known == 0) {
		r = stack_tree_add(tree, parent, frame, known);
		if (r < 0)
			return r;
	}
	*ret_node = *known;
	return 0;
}

int stack_path_push(struct stack_path *path, uint32_t node)
{
	if (path->n == path->size) {
		size_t size = path->size ? path->size * 2 : FIRST_PATH;
		uint32_t *nodes = realloc(path->nodes, size * sizeof(*nodes));

		if (!nodes)
			return -ENOMEM;
		path->nodes = nodes;
		path->size = size;
	}
	path->nodes[path->n++] = node;
	return 0;
}

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

enum frame_flags {
	FRAME_KNOWN = 1,
	FRAME_EXCLUDED = 2,
	FRAME_ELIDED = 4,
	FRAME_FOCUS = 8,
	FRAME_TRUNCATES = 16,
};

/* Of a function, and of the one that it is a copy of, or NULL. */
struct frame_names {
	const char *own;
	const char *original;
};

struct frame_facts {
	uint32_t include; /* patterns that it matches */
	uint8_t flags;
};

enum node_flags {
	NODE_KNOWN = 1,
	NODE_EXCLUDED = 2,
	NODE_BEGUN = 4, /* the focus was seen, or there is none */
	NODE_ENDED = 8, /* what calls on is counted here */
};

struct node_facts {
	uint32_t include; /* patterns that it or a caller matches */
	uint32_t made;    /* node of the new tree */
	uint8_t flags;
};

static int compile_all(struct matcher **patterns, const char *const *texts, size_t n,
		       struct err *err)
{
	int r = 0;

	if (n > QUERY_MAX_PATTERNS) {
		(void)err_set(err, 0, "more than %d patterns of a kind", QUERY_MAX_PATTERNS);
		return -E2BIG;
	}
	for (size_t i = 0; r == 0 && i < n; i++)
		r = matcher_new(texts[i], &patterns[i], err);
	return r;
}

static int compile_rules(struct stack_rules *rules, const struct query *query, struct err *err)
{
	int r = compile_all(rules->include, query->include, query->n_include, err);

	if (r == 0)
		r = compile_all(rules->exclude, query->exclude, query->n_exclude, err);
	if (r == 0)
		r = compile_all(rules->elide, query->elide, query->n_elide, err);
	if (r == 0 && query->focus)
		r = matcher_new(query->focus, &rules->focus, err);
	if (r == 0 && query->truncate)
		r = matcher_new(query->truncate, &rules->truncate, err);
	return r;
}

int stack_rules_init(struct stack_rules *rules, const struct profile *profile,
		     const struct query *query, struct err *err)
{
	int r;

	*rules = (struct stack_rules){.profile = profile, .query = query};
	rules->remade = query->n_elide || query->focus || query->truncate || query->flatten;
	rules->active = rules->remade || query->n_include || query->n_exclude;
	if (!rules->active)
		return 0;
	r = compile_rules(rules, query, err);
	if (r < 0)
		return r;
	rules->all_include = query->n_include ? UINT32_MAX >> (32 - query->n_include) : 0;
	rules->frames = calloc(profile->n_frames + 1, sizeof(*rules->frames));
	rules->nodes = calloc(profile->n_nodes + 1, sizeof(*rules->nodes));
	if (!rules->frames || !rules->nodes || stack_tree_init(&rules->tree) < 0)
		return err_set(err, ENOMEM, "the stacks of a query");
	rules->nodes[0].flags = NODE_KNOWN | (query->focus ? 0 : NODE_BEGUN);
	return 0;
}

void stack_rules_release(struct stack_rules *rules)
{
	for (size_t i = 0; i < QUERY_MAX_PATTERNS; i++) {
		matcher_free(rules->include[i]);
		matcher_free(rules->exclude[i]);
		matcher_free(rules->elide[i]);
	}
	matcher_free(rules->focus);
	matcher_free(rules->truncate);
	free(rules->frames);
	free(rules->nodes);
	free(rules->path.nodes);
	stack_tree_release(&rules->tree);
	*rules = (struct stack_rules){0};
}

/* Whether a function is found by its name, or by that of which it is a copy. */
static int match_function(struct matcher *pattern, const struct frame_names *names, struct err *err)
{
	int r = matcher_matches(pattern, names->own, err);

	return r == 0 && names->original ? matcher_matches(pattern, names->original, err) : r;
}

/* Sets FLAG when any of the patterns matches. */
static int match_any(struct matcher *const *patterns, size_t n, const struct frame_names *names,
		     struct frame_facts *facts, enum frame_flags flag, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		int r = match_function(patterns[i], names, err);

		if (r < 0)
			return r;
		if (r > 0) {
			facts->flags |= (uint8_t)flag;
			return 0;
		}
	}
	return 0;
}

static int match_all(struct stack_rules *rules, const struct frame_names *names,
		     struct frame_facts *facts, struct err *err)
{
	const struct query *query = rules->query;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < query->n_include; i++) {
		r = match_function(rules->include[i], names, err);
		if (r > 0)
			facts->include |= (uint32_t)1 << i;
	}
	if (r >= 0)
		r = match_any(rules->exclude, query->n_exclude, names, facts, FRAME_EXCLUDED, err);
	if (r >= 0)
		r = match_any(rules->elide, query->n_elide, names, facts, FRAME_ELIDED, err);
	if (r >= 0)
		r = match_any(&rules->focus, query->focus ? 1 : 0, names, facts, FRAME_FOCUS, err);
	if (r >= 0)
		r = match_any(&rules->truncate, query->truncate ? 1 : 0, names, facts,
			      FRAME_TRUNCATES, err);
	return r < 0 ? r : 0;
}

static int look_at_frame(struct stack_rules *rules, uint32_t frame, struct err *err)
{
	struct frame_facts *facts = &rules->frames[frame];
	const char *name = rules->profile->strings[rules->profile->frames[frame].name];
	size_t len = function_name_len(name);
	char *original = NULL;
	int r;

	if (name[len]) {
		original = strndup(name, len);
		if (!original)
			return err_set(err, ENOMEM, "the stacks of a query");
	}
	r = match_all(rules, &(struct frame_names){name, original}, facts, err);
	free(original);
	facts->flags |= FRAME_KNOWN;
	return r;
}

/* Hangs the frame on what was made of its callers, or not. */
static int make_node(struct stack_rules *rules, uint32_t frame, uint8_t frame_flags,
		     struct node_facts *facts, struct err *err)
{
	uint32_t caller = facts->made;
	int r;

	if (!(facts->flags & NODE_BEGUN) || (facts->flags & NODE_ENDED))
		return 0;
	if (frame_flags & FRAME_TRUNCATES)
		facts->flags |= NODE_ENDED;
	if (frame_flags & FRAME_ELIDED)
		return 0;
	if (rules->query->flatten && caller != 0 && rules->tree.nodes[caller].frame == frame)
		return 0;
	r = stack_tree_child(&rules->tree, caller, frame, &facts->made);
	return r < 0 ? err_set(err, -r, "the stacks of a query") : 0;
}

/* From the caller's facts, which are known. */
static int look_at_node(struct stack_rules *rules, uint32_t node, struct err *err)
{
	const struct profile_node *at = &rules->profile->nodes[node];
	struct node_facts facts = rules->nodes[at->parent];
	const struct frame_facts *frame = &rules->frames[at->frame];
	int r = 0;

	if (!(frame->flags & FRAME_KNOWN))
		r = look_at_frame(rules, at->frame, err);
	if (r < 0)
		return r;
	facts.include |= frame->include;
	if (frame->flags & FRAME_EXCLUDED)
		facts.flags |= NODE_EXCLUDED;
	if (frame->flags & FRAME_FOCUS)
		facts.flags |= NODE_BEGUN;
	if (rules->remade)
		r = make_node(rules, at->frame, frame->flags, &facts, err);
	if (r == 0)
		rules->nodes[node] = facts;
	return r;
}

int stack_rules_apply(struct stack_rules *rules, uint32_t stack, uint32_t *ret_node,
		      struct err *err)
{
	const struct node_facts *facts;
	int r = 0;

	*ret_node = stack;
	if (!rules->active)
		return 1;
	rules->path.n = 0;
	for (uint32_t node = stack; !(rules->nodes[node].flags & NODE_KNOWN);
	     node = rules->profile->nodes[node].parent) {
		if (stack_path_push(&rules->path, node) < 0)
			return err_set(err, ENOMEM, "the stacks of a query");
	}
	while (r == 0 && rules->path.n > 0)
		r = look_at_node(rules, rules->path.nodes[--rules->path.n], err);
	if (r < 0)
		return r;
	facts = &rules->nodes[stack];
	if ((facts->flags & NODE_EXCLUDED) || !(facts->flags & NODE_BEGUN) ||
	    facts->include != rules->all_include)
		return 0;
	if (rules->remade)
		*ret_node = facts->made;
	return 1;
}
