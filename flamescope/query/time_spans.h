/* time_spans.h - which of a profile's samples are in a query's times */
#ifndef QUERY_TIME_SPANS_H
#define QUERY_TIME_SPANS_H

#include "flamescope/query/query.h"

/* Samples [begin, end), which are in all the ranges whose bit is set. */
struct time_span {
	size_t begin;
	size_t end;
	uint64_t ranges;
	bool tested; /* none of the ranges takes all of them */
};

/* Spans are ascending and do not overlap, so that nothing counts twice. */
struct time_spans {
	const struct profile *profile;
	const struct query *query;
	uint64_t shift_ns; /* from the whole second to the profile's start */
	size_t n;
	struct time_span spans[2 * QUERY_MAX_RANGES];
	size_t n_samples; /* in all of them, before their rows are asked */
};

/**
 * time_spans_init - find a query's times (by halving: samples are in the order of time)
 *
 * Context: any thread; profile and query have to outlive it.
 */
void time_spans_init(struct time_spans *spans, const struct profile *profile,
		     const struct query *query);

/**
 * time_spans_take - whether a sample of a span is in the rows of the query and of a range
 *
 * Context: any thread.
 */
bool time_spans_take(const struct time_spans *spans, const struct time_span *span, size_t sample);

#endif
