/* diff_rule.c - what must not happen: parsed, and judged */
#include "flamescope/diff/diff.h"

#include "base/function_name.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int refuse(const char *text, struct err *err)
{
	(void)err_set(err, 0, "'%s' is no rule", text);
	err_hint(err, "'total(FUNCTION)>+3%%' or 'self(FUNCTION)<-2%%'");
	return -EINVAL;
}

/* Names hold ')' and '>' too: the last ")>" or ")<" ends the name. */
static const char *end_of_name(const char *text)
{
	const char *end = NULL;

	for (const char *at = strchr(text, ')'); at; at = strchr(at + 1, ')'))
		if (at[1] == '>' || at[1] == '<')
			end = at;
	return end;
}

/* "+3%" after '>', "-2.5%" after '<'; digits and a point only, whatever strtod() would take. */
static bool parse_limit(char sign, const char *text, double *ret_limit)
{
	size_t n;
	char *end;
	double limit;

	text += *text == (sign == '>' ? '+' : '-');
	n = strspn(text, "0123456789.");
	limit = strtod(text, &end);
	if (n == 0 || end != text + n || strcmp(end, "%") != 0 || limit > 100)
		return false;
	*ret_limit = (sign == '>' ? limit : -limit) / 100;
	return true;
}

/* The functions of a comparison have the names of the originals only. */
static size_t original_len(const char *name, size_t len)
{
	char *copy = strndup(name, len);
	size_t original = copy ? function_name_len(copy) : len;

	free(copy);
	return original;
}

int diff_rule_parse(const char *text, struct diff_rule *ret_rule, struct err *err)
{
	struct diff_rule rule = {.text = text};
	const char *end = end_of_name(text);

	if (strncmp(text, "total(", 6) == 0) {
		rule.of_total = true;
		rule.function = text + 6;
	} else if (strncmp(text, "self(", 5) == 0) {
		rule.function = text + 5;
	}
	if (!rule.function || !end || end <= rule.function ||
	    !parse_limit(end[1], end + 2, &rule.limit))
		return refuse(text, err);
	rule.n_function = original_len(rule.function, (size_t)(end - rule.function));
	if (signbit(rule.limit) != (end[1] == '<'))
		return refuse(text, err);
	*ret_rule = rule;
	return 0;
}

static bool is_meant(const struct diff_rule *rule, const char *name)
{
	if (rule->n_function == 1 && rule->function[0] == '*')
		return true;
	return strlen(name) == rule->n_function &&
	       memcmp(name, rule->function, rule->n_function) == 0;
}

static struct diff_verdict judge_one(const struct diff_rule *rule,
				     const struct diff_function *function, double level)
{
	struct diff_verdict verdict = {
		.known = true,
		.function = function,
		.change = rule->of_total ? function->total_change : function->self_change,
		.p = rule->of_total ? function->total_p : function->self_p,
	};

	verdict.met =
		signbit(rule->limit) ? verdict.change < rule->limit : verdict.change > rule->limit;
	verdict.significant = verdict.met && verdict.p < level;
	return verdict;
}

/* How far a change goes in the rule's direction. */
static double reach(const struct diff_rule *rule, const struct diff_verdict *verdict)
{
	return signbit(rule->limit) ? -verdict->change : verdict->change;
}

static bool says_more(const struct diff_rule *rule, const struct diff_verdict *one,
		      const struct diff_verdict *other)
{
	if (!other->known || one->significant != other->significant)
		return !other->known || one->significant;
	if (one->met != other->met)
		return one->met;
	return reach(rule, one) > reach(rule, other);
}

struct diff_verdict diff_rule_judge(const struct diff_rule *rule, const struct diff *diff,
				    double level)
{
	struct diff_verdict said = {.p = 1};

	for (size_t i = 0; i < diff->n_functions; i++) {
		struct diff_verdict verdict;

		if (!is_meant(rule, diff->functions[i].name))
			continue;
		verdict = judge_one(rule, &diff->functions[i], level);
		if (says_more(rule, &verdict, &said))
			said = verdict;
	}
	return said;
}
