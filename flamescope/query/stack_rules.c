/* stack_rules.c - which stacks a query takes, and what it makes of them */
#include "flamescope/query/stack_rules.h"

#include "base/function_name.h"
#include "flamescope/query/matcher.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
