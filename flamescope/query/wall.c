/* wall.c - when a thread was in what a sample of wall time shows, and which part of it is selected
 */
#include "flamescope/query/internal.h"

#include <errno.h>
#include <stdlib.h>

/* Far enough from what overflows: 146 years. */
#define MAX_NS (INT64_MAX / 2)

static const uint64_t second_ns = 1000000000;

static int64_t at_most_int64(uint64_t value)
{
	return value < INT64_MAX ? (int64_t)value : INT64_MAX;
}

static int64_t begin_of(int64_t to_ns, int64_t length_ns)
{
	return length_ns < to_ns + MAX_NS ? to_ns - length_ns : -MAX_NS;
}

static int64_t rest_of(int64_t time_ns, int64_t period_ns)
{
	int64_t rest = time_ns % period_ns;

	return rest < 0 ? rest + period_ns : rest;
}

int wall_spans(const struct profile *profile, uint32_t event, const struct period *period,
	       struct selection_span **ret_spans)
{
	struct selection_span *spans = calloc(profile->n_samples + 1, sizeof(*spans));
	int64_t *next = malloc((profile->n_threads + 1) * sizeof(*next)); /* sample of a thread */

	if (!spans || !next) {
		free(spans);
		free(next);
		return -ENOMEM;
	}
	for (size_t i = 0; i < profile->n_threads; i++)
		next[i] = MAX_NS;
	for (size_t i = profile->n_samples; i-- > 0;) {
		int64_t *after = &next[profile->threads[i]];
		int64_t time_ns = at_most_int64(profile->times_ns[i]);

		if (event != SELECTION_EVERY_EVENT && profile->events[i] != event)
			continue;
		spans[i].to_ns = time_ns < *after ? time_ns : *after;
		spans[i].from_ns =
			begin_of(spans[i].to_ns, period_value(period, profile->weights[i]));
		*after = spans[i].from_ns;
	}
	free(next);
	*ret_spans = spans;
	return 0;
}

static int compare_rows(const void *left, const void *right)
{
	const struct query_range *a = left;
	const struct query_range *b = right;

	return (a->every.from_ns > b->every.from_ns) - (a->every.from_ns < b->every.from_ns);
}

static int compare_parts(const void *left, const void *right)
{
	const struct wall_part *a = left;
	const struct wall_part *b = right;

	return (a->from_ns > b->from_ns) - (a->from_ns < b->from_ns);
}

/* Which ranges a part is in that begins at one of their ends. */
static void find_ranges(struct wall_part *part, const struct query_range *ranges, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t from_ns = ranges[i].from_ns ? at_most_int64(ranges[i].from_ns) : INT64_MIN;

		if (part->from_ns < from_ns || part->from_ns >= at_most_int64(ranges[i].to_ns))
			continue;
		part->ranges |= (uint64_t)1 << i;
		part->whole |= ranges[i].every.every_ns == 0;
	}
}

bool wall_time_init(struct wall_time *time, const struct profile *profile,
		    const struct query *query)
{
	const struct query_every *every = &query->every;
	struct query_range ranges[QUERY_MAX_RANGES] = {{.to_ns = UINT64_MAX}};
	size_t n = query->n_ranges;

	*time = (struct wall_time){.all = n == 0 && every->every_ns == 0};
	time->shift_ns = (int64_t)(profile->start_ns % second_ns);
	for (size_t i = 0; i < n; i++)
		ranges[i] = query->ranges[i];
	if (n == 0)
		n = 1;
	for (size_t i = 0; i < n; i++) {
		struct query_every *rows = &ranges[i].every;

		if (rows->every_ns && every->every_ns)
			return false;
		if (every->every_ns)
			*rows = *every;
		if (time->period_ns && rows->every_ns &&
		    time->period_ns != at_most_int64(rows->every_ns))
			return false;
		if (rows->every_ns)
			time->period_ns = at_most_int64(rows->every_ns);
	}
	qsort(ranges, n, sizeof(ranges[0]), compare_rows);
	time->n_ranges = n;
	for (size_t i = 0; i < n; i++) {
		time->rows[i] = ranges[i].every;
		time->parts[2 * i].from_ns =
			ranges[i].from_ns ? at_most_int64(ranges[i].from_ns) : INT64_MIN;
		time->parts[2 * i + 1].from_ns = at_most_int64(ranges[i].to_ns);
	}
	time->n_parts = 2 * n;
	qsort(time->parts, time->n_parts, sizeof(time->parts[0]), compare_parts);
	for (size_t i = 0; i < time->n_parts; i++)
		find_ranges(&time->parts[i], ranges, n);
	return true;
}

/* How much of [FROM, TO) of one period is in rows of these ranges. */
static int64_t within_period(const struct wall_time *time, uint64_t ranges, int64_t from,
			     int64_t to)
{
	int64_t sum = 0;

	for (; ranges != 0; ranges &= ranges - 1) {
		const struct query_every *rows = &time->rows[__builtin_ctzll(ranges)];
		int64_t begin = at_most_int64(rows->from_ns);
		int64_t end = at_most_int64(rows->to_ns);

		begin = begin > from ? begin : from;
		end = end < to ? end : to;
		if (begin >= end)
			continue;
		sum += end - begin;
		from = end; /* rows that begin later may overlap these */
	}
	return sum;
}

/* How much of a span that is in all RANGES is in their rows. */
static int64_t within_rows(const struct wall_time *time, uint64_t ranges, int64_t from, int64_t to)
{
	const int64_t period = time->period_ns;
	const int64_t first = rest_of(from + time->shift_ns, period);
	const int64_t periods = (first + (to - from)) / period;
	const int64_t last = (first + (to - from)) % period;

	if (periods == 0)
		return within_period(time, ranges, first, last);
	return within_period(time, ranges, first, period) +
	       (periods - 1) * within_period(time, ranges, 0, period) +
	       within_period(time, ranges, 0, last);
}

int64_t wall_time_within(const struct wall_time *time, struct selection_span span)
{
	int64_t sum = 0;

	if (time->all)
		return span.to_ns - span.from_ns;
	for (size_t i = 0; i + 1 < time->n_parts; i++) {
		const struct wall_part *part = &time->parts[i];
		int64_t from = span.from_ns > part->from_ns ? span.from_ns : part->from_ns;
		int64_t to = part[1].from_ns < span.to_ns ? part[1].from_ns : span.to_ns;

		if (from >= to || part->ranges == 0)
			continue;
		sum += part->whole ? to - from : within_rows(time, part->ranges, from, to);
	}
	return sum;
}
