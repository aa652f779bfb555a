/*
 * internal.h - the steps of a selection
 *
 * Context: any thread, unless a function says another.
 */
#ifndef QUERY_INTERNAL_H
#define QUERY_INTERNAL_H

#include "base/err.h"
#include "flamescope/pair_map.h"
#include "flamescope/profile.h"
#include "flamescope/query/query.h"

/* matcher: a regular expression of the user's, which may not take for ever */

struct matcher;

/**
 * matcher_new - compile a pattern (PCRE2, UTF-8, unanchored)
 *
 * Return:  0; -EINVAL and where the mistake is; -ENOMEM.
 * Owns:    the caller, to matcher_free().
 */
int matcher_new(const char *text, struct matcher **ret_matcher, struct err *err);

/**
 * matcher_matches - whether it is found in a text
 *
 * A match has a limit of steps, and all matches of a pattern together one of time.
 *
 * Return:  1, 0; -E2BIG: it took too long, and on what.
 * Context: any thread; one at a time.
 */
int matcher_matches(struct matcher *matcher, const char *text, struct err *err);

/**
 * matcher_free - free it
 *
 * Context: any thread.  NULL is fine.
 */
void matcher_free(struct matcher *matcher);

/* missing: what a recording was requested and lacks: what it has, and what would have brought it */

/**
 * missing_metric - refuse a metric that a profile has not
 *
 * ERR names what the profile has and, of what wick knows, the option of wick record that brings it
 * (or, of another word for a metric that is there, that one).
 *
 * Return:  -ENOENT.
 * Context: any thread, as for both.
 */
int missing_metric(const struct profile *profile, const char *name, struct err *err);

/**
 * missing_dimension - the same for a word that groups samples
 * @known: those that every profile has, with commas
 *
 * Return:  -ENOENT.
 */
int missing_dimension(const struct profile *profile, const char *name, const char *known,
		      struct err *err);

/* stack_tree: a tree of stacks that grows; a frame has one child of each frame */

enum { STACK_TREE_MAX_NODES = 8 * 1024 * 1024 };

/* Number 0 is the root; a parent's number is below its children's. */
struct stack_tree {
	struct profile_node *nodes;
	size_t n;
	size_t size;
	struct pair_map map;
};

/* The way from a stack up to something that is known, innermost first. */
struct stack_path {
	uint32_t *nodes;
	size_t n;
	size_t size;
};

/**
 * stack_tree_init - a tree of a root
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller, to stack_tree_release().
 */
int stack_tree_init(struct stack_tree *tree);

/** stack_tree_release - free it; a zeroed tree is fine */
void stack_tree_release(struct stack_tree *tree);

/**
 * stack_tree_reserve - room for N nodes in all
 *
 * Return:  0; -ENOMEM.
 */
int stack_tree_reserve(struct stack_tree *tree, size_t n);

/**
 * stack_tree_add - a new node, whatever its siblings are
 *
 * Return:  0; -ENOMEM; -E2BIG: there are STACK_TREE_MAX_NODES.
 */
int stack_tree_add(struct stack_tree *tree, uint32_t parent, uint32_t frame, uint32_t *ret_node);

/**
 * stack_tree_child - the node of a frame below a parent, new or not
 *
 * Return:  as stack_tree_add().
 */
int stack_tree_child(struct stack_tree *tree, uint32_t parent, uint32_t frame, uint32_t *ret_node);

/**
 * stack_path_push - one more node of the way
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller: free(path->nodes).
 */
int stack_path_push(struct stack_path *path, uint32_t node);

/* stack_groups: the values of dimensions as outermost frames of stacks */

struct stack_groups {
	size_t n;
	struct dimension dimensions[QUERY_MAX_GROUPS];
	uint32_t first_label[QUERY_MAX_GROUPS]; /* frame number of its value 0 */
	size_t n_labels;
	char **labels;
	struct stack_tree tree;
	/* node of TREE by group and node of the stacks' own tree: a row a group, as long as there
	   is room for rows (numbered from 1 on), then the map */
	struct pair_map row_of;
	uint32_t **rows;
	size_t n_rows;
	size_t max_rows;
	size_t row_nodes;
	struct pair_map places;
	struct stack_path path;
};

/**
 * stack_groups_init - the labels of a query's groups
 *
 * Return:  0; -ENOENT: no such dimension, and which there are; -E2BIG: too many; -ENOMEM.
 * Owns:    the caller, to stack_groups_release(), also after a failure.
 */
int stack_groups_init(struct stack_groups *groups, const struct profile *profile,
		      const struct query *query, struct err *err);

/** stack_groups_release - free it; a zeroed one is fine */
void stack_groups_release(struct stack_groups *groups);

/**
 * stack_groups_place - a stack below its sample's groups
 * @nodes: the tree that STACK is of; always the same
 *
 * Return:  0; -E2BIG: more nodes than there is room for; -ENOMEM.
 * Context: any thread; one at a time.
 */
int stack_groups_place(struct stack_groups *groups, const struct profile_node *nodes,
		       uint32_t stack, size_t sample, uint32_t *ret_node);

/* stack_rules: which stacks a query takes, and what it makes of them */

struct frame_facts;
struct node_facts;

/*
 * Frames are matched and stacks are made over when they are first requested, once each: a second
 * of an hour has few of them.  A stack is decided from its caller's, from the root on.
 */
struct stack_rules {
	const struct profile *profile;
	const struct query *query;
	bool active;          /* false: stacks are the profile's own */
	bool remade;          /* stacks are those of TREE; else the profile's */
	uint32_t all_include; /* a bit for each pattern */
	struct matcher *include[QUERY_MAX_PATTERNS];
	struct matcher *exclude[QUERY_MAX_PATTERNS];
	struct matcher *elide[QUERY_MAX_PATTERNS];
	struct matcher *focus;
	struct matcher *truncate;
	struct frame_facts *frames;
	struct node_facts *nodes;
	struct stack_tree tree;
	struct stack_path path;
};

/**
 * stack_rules_init - compile a query's patterns
 *
 * Return:  0; -EINVAL: a pattern is none; -E2BIG: too many; -ENOMEM.
 * Owns:    the caller, to stack_rules_release(), also after a failure; profile and query have to
 *          outlive it.
 */
int stack_rules_init(struct stack_rules *rules, const struct profile *profile,
		     const struct query *query, struct err *err);

/** stack_rules_release - free it; a zeroed one is fine */
void stack_rules_release(struct stack_rules *rules);

/**
 * stack_rules_apply - what becomes of a stack of the profile's
 *
 * Return:  1 and its node; 0: it is left out; -E2BIG: a pattern took too long; -ENOMEM.
 * Context: any thread; one at a time.
 */
int stack_rules_apply(struct stack_rules *rules, uint32_t stack, uint32_t *ret_node,
		      struct err *err);

/* wall: spans of wall time, and how much of each is in the time that is asked for */

/* From FROM_NS on, as far as the next part: in all ranges whose bit is set. */
struct wall_part {
	int64_t from_ns;
	uint64_t ranges;
	bool whole; /* one of them has all of each period */
};

enum { WALL_MOST_PERIODS = 3600 };

/* The ranges of a query; their rows have one period. */
struct wall_time {
	bool all;
	int64_t shift_ns;         /* from the whole second to the profile's start */
	int64_t period_ns;        /* 0: nothing repeats */
	struct query_every every; /* of all ranges, where some have rows, too */
	int64_t cycle_ns;         /* after which both repeat; 0: there are no two */
	size_t n_ranges;
	struct query_every rows[QUERY_MAX_RANGES]; /* of the ranges, the first to begin first */
	size_t n_parts;
	struct wall_part parts[2 * QUERY_MAX_RANGES];
};

/**
 * wall_time_init - the time of a query
 *
 * Return:  false: two things repeat, and not together within WALL_MOST_PERIODS.
 */
bool wall_time_init(struct wall_time *time, const struct profile *profile,
		    const struct query *query);

/** wall_time_within - how much of a span is in that time, in ns */
int64_t wall_time_within(const struct wall_time *time, struct selection_span span);

/**
 * wall_spans - of each sample of a profile's EVENT the time that it stands for
 *
 * A sample ends it (docs/decisions/0011).  Where the next one of its thread begins earlier, it ends
 * there: a thread is in one state at a time.
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller: free(*ret_spans).
 */
int wall_spans(const struct profile *profile, uint32_t event, const struct period *period,
	       struct selection_span **ret_spans);

/* the memory of selections */

/** selection_new - one without samples; NULL when memory ran out */
struct selection *selection_new(const struct profile *profile);

/** selection_labels - give it copies of groups' labels: 0; -ENOMEM */
int selection_labels(struct selection *selection, char *const *labels, size_t n);

/** selection_same_time - of a selection that another is made of, for its spans */
void selection_same_time(struct selection *to, const struct selection *from);

/** selection_tree - give it a tree, which it releases */
void selection_tree(struct selection *selection, const struct stack_tree *tree);

#endif
