/* stack_rules.h - which stacks a query takes, and what it makes of them */
#ifndef QUERY_STACK_RULES_H
#define QUERY_STACK_RULES_H

#include "flamescope/query/query.h"
#include "flamescope/query/stack_tree.h"

struct frame_facts;
struct node_facts;
struct matcher;

/*
 * Frames are matched and stacks are made over when they are first asked for, once each: a second
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
 * Context: any thread.
 */
int stack_rules_init(struct stack_rules *rules, const struct profile *profile,
		     const struct query *query, struct err *err);

/**
 * stack_rules_release - forget it; a zeroed one is fine
 *
 * Context: any thread.
 */
void stack_rules_release(struct stack_rules *rules);

/**
 * stack_rules_apply - what becomes of a stack of the profile's
 *
 * Return:  1 and its node; 0: it is left out; -E2BIG: a pattern took too long; -ENOMEM.
 * Context: any thread; one at a time.
 */
int stack_rules_apply(struct stack_rules *rules, uint32_t stack, uint32_t *ret_node,
		      struct err *err);

#endif
