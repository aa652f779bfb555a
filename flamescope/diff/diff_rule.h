/* diff_rule.h - what must not happen: `total(f)>+3%` */
#ifndef DIFF_DIFF_RULE_H
#define DIFF_DIFF_RULE_H

#include "flamescope/diff/diff.h"

/* A limit on the change of one function's share, in points of the whole. */
struct diff_rule {
	const char *text;     /* as given */
	const char *function; /* not terminated; "*": any */
	size_t n_function;
	bool of_total; /* else of self */
	double limit;  /* 0.03; below zero: the rule is met by a change below it */
};

/**
 * diff_rule_parse - `total(NAME)>+3%`, `self(NAME)<-2.5%`; NAME as in the table or
 *                   of a copy of that function, or `*` for any
 *
 * Return:  0; -EINVAL and what is wrong.
 * Owns:    the rule points into TEXT.
 * Context: any thread.
 */
int diff_rule_parse(const char *text, struct diff_rule *ret_rule, struct err *err);

/* What has become of a rule. */
struct diff_verdict {
	bool known;                           /* the function is on one side or the other */
	bool met;                             /* its share changed by more than the limit */
	bool significant;                     /* and by more than chance */
	const struct diff_function *function; /* of what was found; NULL: not known */
	double change;
	double p;
};

/**
 * diff_rule_judge - whether a comparison meets a rule
 * @level: significant is a p below it
 *
 * Of several functions (`*`) the one with the clearest change past the limit, else with the
 * greatest change, stands for all.
 *
 * Context: any thread.
 */
struct diff_verdict diff_rule_judge(const struct diff_rule *rule, const struct diff *diff,
				    double level);

#endif
