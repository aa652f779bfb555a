/* view_state.c - what the page reads from after `#` (web/query.js has the same words) */
#include "tools/view/view.h"

#include <stdio.h>
#include <string.h>

enum { WORD_BYTES = 160 };

#define NS_PER_S UINT64_C(1000000000)

static void add_encoded(struct buf *buf, const char *text)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~,:@/=";

	for (; *text; text++) {
		if (strchr(plain, *text))
			buf_add_char(buf, *text);
		else
			buf_printf(buf, "%%%02X", (unsigned char)*text);
	}
}

void view_state_add(struct buf *buf, const char *name, const char *value)
{
	if (buf->len)
		buf_add_char(buf, '&');
	buf_add(buf, name);
	if (*value)
		buf_add_char(buf, '=');
	add_encoded(buf, value);
}

static void add_words(struct buf *buf, const char *name, const char *const *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		view_state_add(buf, name, values[i]);
}

static void add_seconds(struct buf *buf, uint64_t ns)
{
	buf_printf(buf, "%llu", (unsigned long long)(ns / NS_PER_S));
	if (ns % NS_PER_S)
		buf_printf(buf, ".%09llu", (unsigned long long)(ns % NS_PER_S));
}

static void add_rows(struct buf *buf, const struct query_every *every)
{
	buf_printf(buf, "%lluns-%lluns", (unsigned long long)every->from_ns,
		   (unsigned long long)every->to_ns);
}

void view_state_ranges(struct buf *buf, const char *name, const struct query *query)
{
	struct buf word;

	buf_init(&word, WORD_BYTES);
	for (size_t i = 0; i < query->n_ranges; i++) {
		const struct query_range *range = &query->ranges[i];

		buf_clear(&word);
		add_seconds(&word, range->from_ns);
		buf_add_char(&word, '-');
		if (range->to_ns < UINT64_MAX)
			add_seconds(&word, range->to_ns);
		if (range->every.every_ns) {
			buf_add_char(&word, '@');
			add_rows(&word, &range->every);
		}
		view_state_add(buf, name, buf_text(&word));
	}
	buf_release(&word);
}

static void add_every(struct buf *buf, const struct query_every *every)
{
	struct buf word;

	if (!every->every_ns)
		return;
	buf_init(&word, WORD_BYTES);
	buf_printf(&word, "%lluns:", (unsigned long long)every->every_ns);
	add_rows(&word, every);
	view_state_add(buf, "every", buf_text(&word));
	buf_release(&word);
}

static void add_filters(struct buf *buf, const struct query *query)
{
	struct buf word;

	buf_init(&word, 64 * 1024);
	for (size_t i = 0; i < query->n_filters; i++) {
		const struct query_filter *filter = &query->filters[i];

		buf_clear(&word);
		buf_printf(&word, "%s%s=", filter->dimension, filter->exclude ? "!" : "");
		buf_add(&word, filter->pattern);
		view_state_add(buf, "where", buf_text(&word));
	}
	buf_release(&word);
}

static void add_groups(struct buf *buf, const struct query *query)
{
	struct buf word;

	buf_init(&word, 4096);
	for (size_t i = 0; i < query->n_groups; i++) {
		buf_add(&word, i ? "," : "");
		buf_add(&word, query->groups[i]);
	}
	if (query->n_groups)
		view_state_add(buf, "group", buf_text(&word));
	buf_release(&word);
}

static void add_measure(struct buf *buf, const struct query *query)
{
	static const char *const ends[] = {
		[QUERY_VALUE] = "",     [QUERY_MEAN] = ":mean", [QUERY_DELTA] = ":delta",
		[QUERY_GAIN] = ":gain", [QUERY_LOSS] = ":loss",
	};
	char word[WORD_BYTES];

	if (!query->has_measure)
		return;
	if (query->measure == QUERY_SAMPLES || query->measure == QUERY_WEIGHT)
		(void)snprintf(word, sizeof(word), "%s",
			       query->measure == QUERY_SAMPLES ? "samples" : "period");
	else
		(void)snprintf(word, sizeof(word), "%s%s", query->metric ? query->metric : "",
			       ends[query->measure]);
	view_state_add(buf, "metric", word);
}

void view_state_words(const struct query *query, struct buf *buf)
{
	view_state_ranges(buf, "time", query);
	add_every(buf, &query->every);
	add_filters(buf, query);
	add_words(buf, "only", query->include, query->n_include);
	add_words(buf, "without", query->exclude, query->n_exclude);
	add_words(buf, "elide", query->elide, query->n_elide);
	if (query->focus)
		view_state_add(buf, "focus", query->focus);
	if (query->truncate)
		view_state_add(buf, "truncate", query->truncate);
	if (query->flatten)
		view_state_add(buf, "flatten", "");
	if (query->idle)
		view_state_add(buf, "idle", "");
	add_groups(buf, query);
	add_measure(buf, query);
}
