/* tier_rows.c - rows of tiers and identities: sums, and the identities with the most time */
#include "base/cleanup.h"
#include "base/histogram.h"
#include "base/saturated.h"
#include "sampler/collector/types/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct identity {
	const char *name;
	uint64_t sum_ns;
};

static bool is_outside(const char *identity)
{
	return strcmp(identity, TOTALS_OUTSIDE) == 0;
}

static bool is_other(const char *identity)
{
	return strcmp(identity, TOTALS_OTHER) == 0;
}

/* Names are interned: equal ones are at one address. */
static int by_name(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)((const struct identity *)a)->name;
	uintptr_t y = (uintptr_t)((const struct identity *)b)->name;

	return (x > y) - (x < y);
}

static int by_sum(const void *a, const void *b)
{
	const struct identity *x = a;
	const struct identity *y = b;

	if (x->sum_ns != y->sum_ns)
		return x->sum_ns < y->sum_ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* Identities that can have rows of their own, each once. */
static size_t list_identities(const struct totals_builder *builder, struct identity *list)
{
	size_t n = 0;
	size_t kept = 0;

	for (size_t i = 0; i < builder->n_cells; i++) {
		const struct total_tier *cell = &builder->cells[i];

		if (cell->count && !is_outside(cell->identity) && !is_other(cell->identity))
			list[n++] =
				(struct identity){.name = cell->identity, .sum_ns = cell->sum_ns};
	}
	qsort(list, n, sizeof(*list), by_name);
	for (size_t i = 0; i < n; i++) {
		if (kept && list[kept - 1].name == list[i].name)
			list[kept - 1].sum_ns =
				saturated_add(list[kept - 1].sum_ns, list[i].sum_ns);
		else
			list[kept++] = list[i];
	}
	return kept;
}

/* The first ones, sorted by name to be found. */
static size_t choose_identities(const struct totals_builder *builder, struct identity *list)
{
	size_t n = list_identities(builder, list);

	qsort(list, n, sizeof(*list), by_sum);
	if (n > TOTALS_IDENTITIES)
		n = TOTALS_IDENTITIES;
	qsort(list, n, sizeof(*list), by_name);
	return n;
}

/* "request" first; within a tier "_total", identities by time, "other", "-". */
static int identity_rank(const char *identity)
{
	if (strcmp(identity, TOTALS_TOTAL) == 0)
		return 0;
	if (is_other(identity))
		return 2;
	return is_outside(identity) ? 3 : 1;
}

static int by_row(const void *a, const void *b)
{
	const struct total_tier *x = a;
	const struct total_tier *y = b;
	int r = strcmp(y->tier, TOTALS_REQUEST) == 0;

	r -= strcmp(x->tier, TOTALS_REQUEST) == 0;
	if (r == 0)
		r = strcmp(x->tier, y->tier);
	if (r == 0)
		r = identity_rank(x->identity) - identity_rank(y->identity);
	if (r == 0)
		r = (x->sum_ns < y->sum_ns) - (x->sum_ns > y->sum_ns);
	return r ? r : strcmp(x->identity, y->identity);
}

static int by_tier(const void *a, const void *b)
{
	const struct total_tier *x = *(struct total_tier *const *)a;
	const struct total_tier *y = *(struct total_tier *const *)b;

	return (x->tier > y->tier) - (x->tier < y->tier);
}

static int add_row(struct total_tier *to, const struct total_tier *from)
{
	total_tier_add(to, from);
	return histogram_merge(&to->durations, &from->durations);
}

/* Rows of one tier: cells FROM .. END. */
static int make_tier(struct totals_builder *builder, struct total_tier **from,
		     struct total_tier **end, const struct identity *list, size_t n)
{
	struct total_tier total = {.tier = (*from)->tier, .identity = TOTALS_TOTAL};
	struct total_tier other = {.tier = (*from)->tier, .identity = TOTALS_OTHER};
	int r = 0;

	for (; from < end && r == 0; from++) {
		const struct identity key = {.name = (*from)->identity};
		bool outside = is_outside(key.name);

		if ((*from)->count == 0)
			continue;
		if (!outside)
			r = add_row(&total, *from);
		if (r == 0 && !outside && !bsearch(&key, list, n, sizeof(*list), by_name)) {
			r = add_row(&other, *from);
			continue;
		}
		builder->tiers[builder->n_tiers] = **from;
		/* A view: the cell keeps its own. */
		builder->tiers[builder->n_tiers++].durations.size = 0;
	}
	if (other.count)
		builder->tiers[builder->n_tiers++] = other;
	if (total.count)
		builder->tiers[builder->n_tiers++] = total;
	return r;
}

int tier_rows_make(struct totals_builder *builder)
{
	size_t n = builder->n_cells;
	_cleanup_free_ struct identity *list = calloc(n + 1, sizeof(*list));
	_cleanup_free_ struct total_tier **cells = calloc(n + 1, sizeof(struct total_tier *));
	size_t n_chosen;
	int r = 0;

	/* Each tier has two rows more than cells, at most. */
	builder->tiers = calloc(3 * n + 1, sizeof(*builder->tiers));
	if (!list || !cells || !builder->tiers)
		return -ENOMEM; /* _cleanup_free_ frees it. NOLINT(clang-analyzer-unix.Malloc) */
	n_chosen = choose_identities(builder, list);
	for (size_t i = 0; i < n; i++)
		cells[i] = &builder->cells[i];
	qsort(cells, n, sizeof(struct total_tier *), by_tier);
	for (size_t first = 0, end; first < n && r == 0; first = end) {
		for (end = first; end < n && cells[end]->tier == cells[first]->tier;)
			end++;
		r = make_tier(builder, cells + first, cells + end, list, n_chosen);
	}
	qsort(builder->tiers, builder->n_tiers, sizeof(*builder->tiers), by_row);
	return r;
}
