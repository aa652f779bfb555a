/* merge_samples.c - the columns of all readers, one after the other */
#include "flamescope/load/build/internal.h"

#include <errno.h>
#include <string.h>

static int alloc_columns(struct merge *merge)
{
	struct profile *p = merge->profile;
	size_t n = p->n_samples;

	p->times_ns = profile_alloc(p, n, sizeof(*p->times_ns));
	p->threads = profile_alloc(p, n, sizeof(*p->threads));
	p->stacks = profile_alloc(p, n, sizeof(*p->stacks));
	p->weights = profile_alloc(p, n, sizeof(*p->weights));
	p->cpus = profile_alloc(p, n, sizeof(*p->cpus));
	p->events = profile_alloc(p, n, sizeof(*p->events));
	if (!p->times_ns || !p->threads || !p->stacks || !p->weights || !p->cpus || !p->events)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_tags; i++) {
		p->tags[i].codes = profile_alloc(p, n, sizeof(*p->tags[i].codes));
		if (!p->tags[i].codes)
			return -ENOMEM;
	}
	for (size_t i = 0; i < p->n_metrics; i++) {
		struct profile_metric *metric = &p->metrics[i];

		metric->values = profile_alloc(p, n, sizeof(*metric->values));
		metric->deltas = profile_alloc(p, n, sizeof(*metric->deltas));
		if (!metric->values || !metric->deltas)
			return -ENOMEM;
		for (size_t j = 0; j < n; j++)
			metric->values[j] = metric->deltas[j] = PROFILE_ABSENT;
	}
	return 0;
}

/* The state first, then what it waits in and on, then by place in the text. */
static int tag_rank(const struct builder *all, const struct builder_tag *tag)
{
	static const char *const first[] = {"state", "wait", "on"};
	int i = 0;

	while (i < 3 && strcmp(uniques_text(&all->uniques, tag->name), first[i]) != 0)
		i++;
	return i;
}

/* Two words of one block may have the same place: their names decide then. */
static bool word_before(const struct builder *all, struct place a, uint32_t name, struct place b,
			uint32_t other)
{
	if (a.at != b.at)
		return a.at < b.at;
	if (a.word != b.word)
		return a.word < b.word;
	return strcmp(uniques_text(&all->uniques, name), uniques_text(&all->uniques, other)) < 0;
}

static bool tag_before(const struct builder *all, size_t a, size_t b)
{
	int rank = tag_rank(all, &all->tags[a]);
	int other = tag_rank(all, &all->tags[b]);

	return rank != other ? rank < other
			     : word_before(all, all->tags[a].first, all->tags[a].name,
					   all->tags[b].first, all->tags[b].name);
}

static void order_tags(struct merge *merge)
{
	const struct builder *all = merge->all;
	struct profile *p = merge->profile;

	p->n_tags = all->n_tags;
	for (size_t i = 0; i < all->n_tags; i++) {
		size_t before = 0;

		for (size_t j = 0; j < all->n_tags; j++)
			before += j != i && tag_before(all, j, i);
		merge->tag_of[i] = before;
		p->tags[before].name = all->tags[i].name;
	}
}

static bool has_values(const struct merge *merge, size_t metric)
{
	for (size_t i = 0; i < merge->n_maps; i++)
		for (size_t j = 0; j < merge->maps[i].builder->n_metrics; j++)
			if (merge->maps[i].metrics[j] == metric &&
			    merge->maps[i].builder->metrics[j].values.n)
				return true;
	return false;
}

static void order_metrics(struct merge *merge)
{
	const struct builder *all = merge->all;
	struct profile *p = merge->profile;

	for (size_t i = 0; i < all->n_metrics; i++) {
		const struct builder_metric *metric = &all->metrics[i];
		size_t before = 0;

		merge->metric_of[i] = PROFILE_MAX_METRICS;
		if (!has_values(merge, i))
			continue;
		for (size_t j = 0; j < all->n_metrics; j++)
			before += j != i && has_values(merge, j) &&
				  word_before(all, all->metrics[j].first, all->metrics[j].name,
					      metric->first, metric->name);
		merge->metric_of[i] = before;
		p->n_metrics++;
		p->metrics[before].name = metric->name;
		p->metrics[before].unit = metric->unit;
		p->metrics[before].kind = metric->kind;
	}
}

static uint32_t mapped(const uint32_t *map, uint32_t number)
{
	return map ? map[number] : number;
}

static void copy_rows(struct merge *merge, const struct merge_segment *s)
{
	const struct builder *from = s->map->builder;
	struct profile *p = merge->profile;
	size_t first = s->segment.first;

	for (size_t i = 0; i < s->segment.n; i++) {
		p->times_ns[s->to + i] = from->times[first + i] + (uint64_t)merge->shifts[s->file];
		p->threads[s->to + i] = mapped(s->map->threads, from->threads[first + i]);
		p->stacks[s->to + i] = mapped(s->map->nodes, from->stacks[first + i]);
		p->weights[s->to + i] = from->weights[first + i];
		p->cpus[s->to + i] = from->cpus[first + i];
		p->events[s->to + i] = s->map->events[from->events[first + i]];
	}
}

/* How many values a column has of N from FIRST on. */
static size_t column_has(const struct column *column, size_t first, size_t n)
{
	size_t has = column->n > first ? column->n - first : 0;

	return has < n ? has : n;
}

static void copy_tags(struct merge *merge, const struct merge_segment *s)
{
	const struct builder *from = s->map->builder;

	for (size_t i = 0; i < from->n_tags; i++) {
		const struct column *column = &from->tags[i].codes;
		size_t n = column_has(column, s->segment.first, s->segment.n);
		const uint32_t *codes;
		uint32_t *to;

		if (s->map->tags[i] == PROFILE_MAX_TAGS || n == 0)
			continue;
		codes = (const uint32_t *)column->values + s->segment.first;
		to = merge->profile->tags[merge->tag_of[s->map->tags[i]]].codes + s->to;
		for (size_t j = 0; j < n; j++)
			to[j] = s->map->codes[i] && codes[j] != PROFILE_TAG_OTHER
					? s->map->codes[i][codes[j]]
					: codes[j];
	}
}

static void copy_metrics(struct merge *merge, const struct merge_segment *s)
{
	const struct builder *from = s->map->builder;

	for (size_t i = 0; i < from->n_metrics; i++) {
		const struct builder_metric *metric = &from->metrics[i];
		size_t n = column_has(&metric->values, s->segment.first, s->segment.n);
		struct profile_metric *to;

		if (s->map->metrics[i] == PROFILE_MAX_METRICS || n == 0)
			continue;
		to = &merge->profile->metrics[merge->metric_of[s->map->metrics[i]]];
		memcpy(to->values + s->to,
		       (const int64_t *)metric->values.values + s->segment.first,
		       n * sizeof(int64_t));
		memcpy(to->deltas + s->to,
		       (const int64_t *)metric->deltas.values + s->segment.first,
		       n * sizeof(int64_t));
	}
}

/* In the inline dialect an event that does not say a metric has the value of the one before. */
static void inherit(struct merge *merge, struct profile_metric *metric)
{
	size_t first = 0; /* of the file */

	for (size_t i = 0; i < merge->n_segments; i++) {
		const struct merge_segment *s = &merge->segments[i];

		if (i == 0 || merge->segments[i - 1].file != s->file)
			first = s->to;
		if (!merge->files[s->file].facts.inlined)
			continue;
		for (size_t j = s->to; j < s->to + s->segment.n; j++) {
			if (j == first || metric->values[j] != PROFILE_ABSENT ||
			    metric->values[j - 1] == PROFILE_ABSENT)
				continue;
			metric->values[j] = metric->values[j - 1];
			metric->deltas[j] = 0;
		}
	}
}

int merge_samples(struct merge *merge)
{
	struct profile *p = merge->profile;
	int r;

	order_tags(merge);
	order_metrics(merge);
	r = alloc_columns(merge);
	if (r < 0 || budget_failed(merge->all->uniques.budget))
		return r < 0 ? r : -ENOMEM;
	for (size_t i = 0; i < merge->n_segments; i++) {
		copy_rows(merge, &merge->segments[i]);
		copy_tags(merge, &merge->segments[i]);
		copy_metrics(merge, &merge->segments[i]);
	}
	for (size_t i = 0; i < merge->all->n_metrics; i++)
		if (merge->all->metrics[i].inlined && merge->metric_of[i] < PROFILE_MAX_METRICS)
			inherit(merge, &p->metrics[merge->metric_of[i]]);
	return 0;
}
