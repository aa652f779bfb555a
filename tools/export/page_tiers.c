/* page_tiers.c - histograms of requests and tiers */
#include "base/histogram.h"
#include "tools/export/internal.h"

#include "base/io.h"
#include "tools/export/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LABELS_BYTES = 4096 };

/* Of a row: counts up to the end of each bucket, and of all, then: */
enum { ALL = PAGE_BUCKETS, SUM, SELF, N_VALUES };

_Static_assert((int)N_VALUES <= (int)SERIES_VALUES, "they fit a row");
_Static_assert((int)PAGE_IDENTITIES <= (int)SERIES_MOST, "and rows fit a top");

static struct page_tier *tier_of(struct page_tiers *tiers, const char *name)
{
	struct page_tier *last = &tiers->at[PAGE_TIERS];

	if (strcmp(name, TOTALS_REQUEST) == 0) {
		if (!last->tier)
			last->tier = strdup(name);
		return last->tier ? last : NULL;
	}
	for (size_t i = 0; i < PAGE_TIERS; i++) {
		struct page_tier *tier = &tiers->at[i];

		if (!tier->tier)
			tier->tier = strdup(name);
		if (tier->tier && strcmp(tier->tier, name) == 0)
			return tier;
	}
	return NULL;
}

/* The ends of octaves are ends of buckets, so that no count is split. */
static void add_values(struct series_row *row, const struct total_tier *tier)
{
	for (uint32_t i = 0; i < tier->durations.n; i++) {
		const struct histogram_bucket *at = &tier->durations.at[i];
		uint64_t low_ns = histogram_low_ns(at->bucket);

		for (size_t j = 0; j < PAGE_BUCKETS; j++)
			if (low_ns < UINT64_C(1) << (PAGE_FIRST_OCTAVE + j))
				row->values[j] += at->count;
	}
	row->values[ALL] += tier->count;
	row->values[SUM] += tier->sum_ns;
	row->values[SELF] += tier->self_ns;
	row->rank = row->values[SUM];
}

static struct series_row *special(struct page_tier *tier, const char *identity)
{
	if (strcmp(identity, TOTALS_TOTAL) == 0)
		return &tier->all;
	if (strcmp(identity, TOTALS_OUTSIDE) == 0)
		return &tier->outside;
	return strcmp(identity, TOTALS_OTHER) == 0 ? &tier->other : NULL;
}

static void make_labels(struct buf *labels, const char *tier, const char *identity)
{
	buf_clear(labels);
	if (strcmp(tier, TOTALS_REQUEST) != 0)
		page_label(labels, "tier", tier);
	page_label(labels, "identity", identity);
}

static int add_row(struct page_tiers *tiers, const struct total_tier *total, size_t index,
		   struct buf *labels)
{
	struct page_tier *tier = tier_of(tiers, total->tier);
	struct series_row *row;

	if (!tier) {
		tiers->left_out++;
		return 0;
	}
	make_labels(labels, total->tier, total->identity);
	row = special(tier, total->identity);
	if (!row)
		row = page_rows_get(&tier->rows, labels, index);
	if (!row)
		return -ENOMEM;
	if (row->values[ALL] == 0)
		row->index = index;
	add_values(row, total);
	return 0;
}

static int choose(struct page_tier *tier)
{
	int r;

	page_rows_sort(&tier->rows);
	tier->top.k = PAGE_IDENTITIES;
	tier->top.n_values = N_VALUES;
	r = series_choose(&tier->top, tier->rows.at, tier->rows.n, &tier->choice);
	for (size_t i = 0; r == 0 && i < N_VALUES; i++) {
		uint64_t *value = &tier->other.values[i];

		*value += tier->choice.other[i];
		/* an identity that the collector had among its others may be a series at once */
		*value = *value < tier->others[i] ? tier->others[i] : *value;
		tier->others[i] = *value;
	}
	return r;
}

static int take(struct page_tiers *tiers, const struct totals *totals)
{
	struct buf labels;
	int r = 0;

	buf_init(&labels, LABELS_BYTES);
	for (size_t i = 0; r == 0 && i < totals->n_tiers; i++)
		r = add_row(tiers, &totals->tiers[i], i, &labels);
	buf_release(&labels);
	for (size_t i = 0; r == 0 && i <= PAGE_TIERS; i++)
		r = tiers->at[i].tier ? choose(&tiers->at[i]) : 0;
	return r;
}

struct writing {
	struct page_text *text;
	const struct totals *totals;
	const char *name;
	bool self; /* of the series of self times */
};

static void write_row(const struct writing *writing, const char *labels, const uint64_t *values,
		      const struct total_tier *from)
{
	struct page_exemplar exemplar = {0};

	if (values[ALL] == 0)
		return;
	if (writing->self) {
		page_seconds(writing->text, writing->name, labels, values[SELF]);
		return;
	}
	if (from && from->exemplar_ns)
		exemplar = (struct page_exemplar){
			.trace = from->exemplar_trace,
			.ns = from->exemplar_ns,
			.time_ns = from->exemplar_time_ns + io_realtime_ns() - io_now_ns(),
		};
	page_histogram(writing->text, writing->name, labels, values, values[SUM],
		       exemplar.ns ? &exemplar : NULL);
}

static void write_special(const struct writing *writing, const struct page_tier *tier,
			  const char *identity, const struct series_row *row)
{
	const struct totals *totals = writing->totals;
	struct buf labels;

	buf_init(&labels, LABELS_BYTES);
	make_labels(&labels, tier->tier, identity);
	write_row(writing, buf_text(&labels), row->values,
		  row != &tier->other && row->index < totals->n_tiers ? &totals->tiers[row->index]
								      : NULL);
	buf_release(&labels);
}

static void write_tier(const struct writing *writing, const struct page_tier *tier)
{
	write_special(writing, tier, TOTALS_TOTAL, &tier->all);
	write_special(writing, tier, TOTALS_OUTSIDE, &tier->outside);
	for (size_t i = 0; i < tier->choice.n; i++) {
		const struct series_row *row = &tier->rows.at[tier->choice.rows[i]];

		write_row(writing, row->labels, tier->choice.values[i],
			  &writing->totals->tiers[row->index]);
	}
	write_special(writing, tier, TOTALS_OTHER, &tier->other);
}

static void write_all(struct page_tiers *tiers, const struct totals *totals, struct page_text *text)
{
	struct writing writing = {.text = text, .totals = totals};

	if (tiers->at[PAGE_TIERS].tier) {
		writing.name = "wick_request_duration_seconds";
		page_family(text, writing.name, "histogram", "seconds",
			    "Time from the begin of a request to its end.");
		write_tier(&writing, &tiers->at[PAGE_TIERS]);
	}
	if (!tiers->at[0].tier)
		return;
	writing.name = "wick_tier_duration_seconds";
	page_family(text, writing.name, "histogram", "seconds",
		    "Time from entering a tier to leaving it.");
	for (size_t i = 0; i < PAGE_TIERS && tiers->at[i].tier; i++)
		write_tier(&writing, &tiers->at[i]);
	page_family(text, "wick_tier_self_seconds", "counter", "seconds",
		    "Time in a tier, without tiers inside it.");
	writing.name = "wick_tier_self_seconds_total";
	writing.self = true;
	for (size_t i = 0; i < PAGE_TIERS && tiers->at[i].tier; i++)
		write_tier(&writing, &tiers->at[i]);
}

static void clear(struct page_tier *tier)
{
	page_rows_release(&tier->rows);
	tier->choice.n = 0;
	tier->all = (struct series_row){0};
	tier->outside = tier->all;
	tier->other = tier->all;
}

int page_tiers(struct page_tiers *tiers, const struct totals *totals, struct page_text *text)
{
	int r;

	tiers->left_out = 0;
	r = take(tiers, totals);
	if (r == 0)
		write_all(tiers, totals, text);
	for (size_t i = 0; i <= PAGE_TIERS; i++)
		clear(&tiers->at[i]);
	return r;
}

void page_tiers_forget(struct page_tiers *tiers)
{
	for (size_t i = 0; i <= PAGE_TIERS; i++) {
		series_forget(&tiers->at[i].top);
		free(tiers->at[i].tier);
		clear(&tiers->at[i]);
		tiers->at[i] = (struct page_tier){0};
	}
}
