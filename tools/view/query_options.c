/* query_options.c - options to a query: the same words for every command, and for the page */
#include "tools/view/view.h"

#include "flamescope/query/query.h"
#include "tools/cli/pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A copy that lives as long as the options do. */
static char *keep(struct query_options *options, const char *text)
{
	char *copy = NULL;

	if (options->n_kept < QUERY_OPTIONS_KEPT)
		copy = strdup(text);
	if (copy)
		options->kept[options->n_kept++] = copy;
	return copy;
}

static int no_room(struct err *err)
{
	return err_set(err, E2BIG, "read so many options");
}

/* Refuses an expression where it was given, not when it is first used. */
static int check_pattern(const char *text, struct err *err)
{
	struct pattern *pattern = NULL;
	int r = pattern_new(text, &pattern, err);

	pattern_free(pattern);
	return r;
}

static int add_pattern(struct query_options *options, const char **list, size_t *n,
		       const char *text, struct err *err)
{
	int r = check_pattern(text, err);
	const char *copy;

	if (r < 0)
		return r;
	copy = *n < QUERY_MAX_PATTERNS ? keep(options, text) : NULL;
	if (!copy)
		return no_room(err);
	list[(*n)++] = copy;
	return 1;
}

static int set_pattern(struct query_options *options, const char **field, const char *text,
		       struct err *err)
{
	size_t none = 0;

	return add_pattern(options, field, &none, text, err);
}

static int add_filter(struct query_options *options, const char *dimension, const char *pattern,
		      bool exclude, struct err *err)
{
	struct query *query = &options->query;
	int r = check_pattern(pattern, err);
	char *name, *text;

	if (r < 0)
		return r;
	if (query->n_filters == QUERY_MAX_PATTERNS)
		return no_room(err);
	name = keep(options, dimension);
	text = keep(options, pattern);
	if (!name || !text)
		return no_room(err);
	query->filters[query->n_filters++] =
		(struct query_filter){.dimension = name, .pattern = text, .exclude = exclude};
	return 1;
}

/* DIM=RE or DIM!=RE */
static int add_where(struct query_options *options, const char *text, struct err *err)
{
	char name[64];
	size_t len = strcspn(text, "=");
	bool exclude = len > 0 && text[len] == '=' && text[len - 1] == '!';
	size_t name_len = len - exclude;

	if (text[len] != '=' || name_len == 0 || name_len >= sizeof(name))
		return err_set(err, 0,
			       "'%s' is not DIM=RE or DIM!=RE, try: --where 'state=running'", text);
	memcpy(name, text, name_len);
	name[name_len] = '\0';
	return add_filter(options, name, text + len + 1, exclude, err);
}

/* tier=RE or tier!=RE: a label, whose name and the sign no function's name begins with */
static bool is_test(const char *text)
{
	char name[16];
	size_t len = strcspn(text, "!=");

	if (len >= sizeof(name) || (text[len] == '!' ? text[len + 1] : text[len]) != '=')
		return false;
	memcpy(name, text, len);
	name[len] = '\0';
	return dimension_is_label(name);
}

static int add_groups(struct query_options *options, const char *text, struct err *err)
{
	struct query *query = &options->query;
	char *list = keep(options, text);
	char *rest = NULL;

	if (!list)
		return no_room(err);
	for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
		if (query->n_groups == QUERY_MAX_GROUPS)
			return err_set(err, 0, "'%s' groups by more than %d, try: fewer", text,
				       QUERY_MAX_GROUPS);
		query->groups[query->n_groups++] = name;
	}
	if (query->n_groups)
		return 1;
	return err_set(err, 0, "'%s' names no group, try: --group state", text);
}

static int add_elide(struct query_options *options, const char *text, struct err *err)
{
	char *pattern = NULL;
	int r;

	if (*text != '@')
		return add_pattern(options, options->query.elide, &options->query.n_elide, text,
				   err);
	r = elide_rules_read(text + 1, &pattern, err);
	if (r == 0)
		r = add_pattern(options, options->query.elide, &options->query.n_elide, pattern,
				err);
	free(pattern);
	return r;
}

static int set_metric(struct query_options *options, const char *value, struct err *err)
{
	char *text = keep(options, value);
	int r;

	if (!text)
		return no_room(err);
	r = query_parse_measure(&options->query, text, err);
	return r < 0 ? r : 1;
}

/* The dimension of the options that are filters by another name. */
static const char *filter_of(int id)
{
	switch (id) {
	case QUERY_OPT_THREAD:
		return "thread";
	case QUERY_OPT_COMM:
		return "comm";
	case QUERY_OPT_PROCESS:
		return "process";
	case QUERY_OPT_STATE:
		return "state";
	case QUERY_OPT_WAIT:
		return "wait";
	case QUERY_OPT_EVENT:
		return "event";
	default:
		return NULL;
	}
}

static int take_frames(struct query_options *options, int id, const char *value, struct err *err)
{
	struct query *query = &options->query;

	switch (id) {
	case QUERY_OPT_ONLY:
		if (is_test(value))
			return add_where(options, value, err);
		return add_pattern(options, query->include, &query->n_include, value, err);
	case QUERY_OPT_WITHOUT:
		return add_pattern(options, query->exclude, &query->n_exclude, value, err);
	case QUERY_OPT_FOCUS:
		return set_pattern(options, &query->focus, value, err);
	case QUERY_OPT_TRUNCATE:
		return set_pattern(options, &query->truncate, value, err);
	case QUERY_OPT_ELIDE:
		return add_elide(options, value, err);
	default:
		return 0;
	}
}

int query_options_take(struct query_options *options, int id, const char *value, struct err *err)
{
	struct query *query = &options->query;
	int r;

	if (id < QUERY_OPT_TIME || id >= QUERY_OPT_END)
		return 0;
	if (filter_of(id))
		return add_filter(options, filter_of(id), value, false, err);
	switch (id) {
	case QUERY_OPT_TIME:
		r = query_parse_range(query, value, err);
		return r < 0 ? r : 1;
	case QUERY_OPT_EVERY:
		r = query_parse_every(query, value, err);
		return r < 0 ? r : 1;
	case QUERY_OPT_WHERE:
		return add_where(options, value, err);
	case QUERY_OPT_FLATTEN:
		query->flatten = true;
		return 1;
	case QUERY_OPT_IDLE:
		query->idle = true;
		return 1;
	case QUERY_OPT_GROUP:
		return add_groups(options, value, err);
	case QUERY_OPT_METRIC:
		return set_metric(options, value, err);
	default:
		return take_frames(options, id, value, err);
	}
}

void query_options_release(struct query_options *options)
{
	for (size_t i = 0; i < options->n_kept; i++)
		free(options->kept[i]);
	*options = (struct query_options){0};
}
