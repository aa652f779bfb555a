/* time_spans.c - which of a profile's samples are in a query's times */
#include "flamescope/query/time_spans.h"

#include <stdlib.h>

static const uint64_t second_ns = 1000000000;

struct bounds {
	size_t begin;
	size_t end;
};

static size_t first_at(const struct profile *profile, uint64_t time_ns)
{
	size_t low = 0;
	size_t high = profile->n_samples;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (profile->times_ns[middle] < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int compare_places(const void *left, const void *right)
{
	size_t a = *(const size_t *)left;
	size_t b = *(const size_t *)right;

	return (a > b) - (a < b);
}

static bool in_rows(const struct query_every *every, uint64_t time_ns)
{
	uint64_t offset;

	if (every->every_ns == 0)
		return true;
	offset = time_ns % every->every_ns;
	return offset >= every->from_ns && offset < every->to_ns;
}

/* The samples between two neighbouring bounds of ranges are all in the same ranges. */
static void add_span(struct time_spans *spans, const struct bounds *bounds, size_t begin,
		     size_t end)
{
	struct time_span span = {.begin = begin, .end = end, .tested = true};

	for (size_t i = 0; i < spans->query->n_ranges; i++) {
		if (begin < bounds[i].begin || end > bounds[i].end)
			continue;
		span.ranges |= (uint64_t)1 << i;
		if (spans->query->ranges[i].every.every_ns == 0)
			span.tested = false;
	}
	if (span.ranges == 0)
		return;
	spans->n_samples += end - begin;
	spans->spans[spans->n++] = span;
}

void time_spans_init(struct time_spans *spans, const struct profile *profile,
		     const struct query *query)
{
	struct bounds bounds[QUERY_MAX_RANGES] = {0};
	size_t places[2 * QUERY_MAX_RANGES] = {0};
	size_t n = query->n_ranges;

	*spans = (struct time_spans){.profile = profile, .query = query};
	spans->shift_ns = profile->start_ns % second_ns;
	if (n == 0) {
		spans->spans[spans->n++] = (struct time_span){.end = profile->n_samples};
		spans->n_samples = profile->n_samples;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		places[2 * i] = bounds[i].begin = first_at(profile, query->ranges[i].from_ns);
		places[2 * i + 1] = bounds[i].end =
			query->ranges[i].to_ns == UINT64_MAX
				? profile->n_samples
				: first_at(profile, query->ranges[i].to_ns);
	}
	qsort(places, 2 * n, sizeof(places[0]), compare_places);
	for (size_t i = 0; i + 1 < 2 * n; i++) {
		if (places[i] < places[i + 1])
			add_span(spans, bounds, places[i], places[i + 1]);
	}
}

bool time_spans_take(const struct time_spans *spans, const struct time_span *span, size_t sample)
{
	uint64_t time_ns = spans->profile->times_ns[sample] + spans->shift_ns;
	uint64_t ranges = span->ranges;

	if (!in_rows(&spans->query->every, time_ns))
		return false;
	for (; span->tested && ranges != 0; ranges &= ranges - 1) {
		size_t range = (size_t)__builtin_ctzll(ranges);

		if (in_rows(&spans->query->ranges[range].every, time_ns))
			return true;
	}
	return !span->tested;
}
