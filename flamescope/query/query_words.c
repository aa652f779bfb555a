/* query_words.c - a query from words: the same for every command, and for the page */
#include "flamescope/query/query.h"

#include "flamescope/query/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A copy that lives as long as the options do. */
static char *keep(struct query_words *words, const char *text)
{
	char *copy = NULL;

	if (words->n_kept < QUERY_WORDS_KEPT)
		copy = strdup(text);
	if (copy)
		words->kept[words->n_kept++] = copy;
	return copy;
}

static int no_room(struct err *err)
{
	return err_set(err, E2BIG, "read so many options");
}

/* Refuses an expression where it was given, not when it is first used. */
static int check_pattern(const char *text, struct err *err)
{
	struct matcher *matcher = NULL;
	int r = matcher_new(text, &matcher, err);

	matcher_free(matcher);
	return r;
}

static int add_pattern(struct query_words *words, const char **list, size_t *n, const char *text,
		       struct err *err)
{
	int r = check_pattern(text, err);
	const char *copy;

	if (r < 0)
		return r;
	copy = *n < QUERY_MAX_PATTERNS ? keep(words, text) : NULL;
	if (!copy)
		return no_room(err);
	list[(*n)++] = copy;
	return 1;
}

static int set_pattern(struct query_words *words, const char **field, const char *text,
		       struct err *err)
{
	size_t none = 0;

	return add_pattern(words, field, &none, text, err);
}

static int add_filter(struct query_words *words, const char *dimension, const char *pattern,
		      bool exclude, struct err *err)
{
	struct query *query = &words->query;
	int r = check_pattern(pattern, err);
	char *name, *text;

	if (r < 0)
		return r;
	if (query->n_filters == QUERY_MAX_PATTERNS)
		return no_room(err);
	name = keep(words, dimension);
	text = keep(words, pattern);
	if (!name || !text)
		return no_room(err);
	query->filters[query->n_filters++] =
		(struct query_filter){.dimension = name, .pattern = text, .exclude = exclude};
	return 1;
}

/* DIM=RE or DIM!=RE */
static int add_where(struct query_words *words, const char *text, struct err *err)
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
	return add_filter(words, name, text + len + 1, exclude, err);
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

static int add_groups(struct query_words *words, const char *text, struct err *err)
{
	struct query *query = &words->query;
	char *list = keep(words, text);
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

static int add_elide(struct query_words *words, const char *text, struct err *err)
{
	char *pattern = NULL;
	int r;

	if (*text != '@')
		return add_pattern(words, words->query.elide, &words->query.n_elide, text, err);
	r = elide_rules_read(text + 1, &pattern, err);
	if (r == 0)
		r = add_pattern(words, words->query.elide, &words->query.n_elide, pattern, err);
	free(pattern);
	return r;
}

static int set_metric(struct query_words *words, const char *value, struct err *err)
{
	char *text = keep(words, value);
	int r;

	if (!text)
		return no_room(err);
	r = query_parse_measure(&words->query, text, err);
	return r < 0 ? r : 1;
}

static bool is_filter(const char *name)
{
	static const char *const filters[] = {"thread", "comm", "process",
					      "state",  "wait", "event"};

	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
		if (strcmp(name, filters[i]) == 0)
			return true;
	return false;
}

static int take_only(struct query_words *words, const char *value, struct err *err)
{
	if (is_test(value))
		return add_where(words, value, err);
	return add_pattern(words, words->query.include, &words->query.n_include, value, err);
}

static int take_without(struct query_words *words, const char *value, struct err *err)
{
	return add_pattern(words, words->query.exclude, &words->query.n_exclude, value, err);
}

static int take_focus(struct query_words *words, const char *value, struct err *err)
{
	return set_pattern(words, &words->query.focus, value, err);
}

static int take_truncate(struct query_words *words, const char *value, struct err *err)
{
	return set_pattern(words, &words->query.truncate, value, err);
}

static int take_time(struct query_words *words, const char *value, struct err *err)
{
	int r = query_parse_range(&words->query, value, err);

	return r < 0 ? r : 1;
}

static int take_every(struct query_words *words, const char *value, struct err *err)
{
	int r = query_parse_every(&words->query, value, err);

	return r < 0 ? r : 1;
}

static int take_flatten(struct query_words *words, const char *value, struct err *err)
{
	(void)value;
	(void)err;
	words->query.flatten = true;
	return 1;
}

static int take_idle(struct query_words *words, const char *value, struct err *err)
{
	(void)value;
	(void)err;
	words->query.idle = true;
	return 1;
}

int query_words_take(struct query_words *words, const char *name, const char *value,
		     struct err *err)
{
	static const struct {
		const char *name;
		int (*take)(struct query_words *words, const char *value, struct err *err);
	} takers[] = {
		{"time", take_time},         {"every", take_every},     {"where", add_where},
		{"only", take_only},         {"without", take_without}, {"focus", take_focus},
		{"truncate", take_truncate}, {"flatten", take_flatten}, {"idle", take_idle},
		{"elide", add_elide},        {"group", add_groups},     {"metric", set_metric},
	};

	if (is_filter(name))
		return add_filter(words, name, value, false, err);
	for (size_t i = 0; i < sizeof(takers) / sizeof(takers[0]); i++)
		if (strcmp(name, takers[i].name) == 0)
			return takers[i].take(words, value, err);
	return 0;
}

void query_words_release(struct query_words *words)
{
	for (size_t i = 0; i < words->n_kept; i++)
		free(words->kept[i]);
	*words = (struct query_words){0};
}
