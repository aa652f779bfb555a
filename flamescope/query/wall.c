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

/* Where rows of seconds and of every period are both asked for, these are not the ranges'. */
static bool has_both(const struct query *query)
{
	bool rows = false;

	for (size_t i = 0; i < query->n_ranges; i++)
		rows |= query->ranges[i].every.every_ns != 0;
	return rows && query->every.every_ns != 0;
}

/* After how long both repeat; 0: after too long. */
static int64_t common_period(uint64_t period_ns, uint64_t other_ns)
{
	for (uint64_t n = 1; n <= WALL_MOST_PERIODS; n++)
		if (n * period_ns % other_ns == 0)
			return (int64_t)(n * period_ns);
	return 0;
}

bool wall_time_init(struct wall_time *time, const struct profile *profile,
		    const struct query *query)
{
	struct query_range ranges[QUERY_MAX_RANGES] = {{.to_ns = UINT64_MAX}};
	const bool both = has_both(query);
	size_t n = query->n_ranges;

	*time = (struct wall_time){.all = n == 0 && query->every.every_ns == 0};
	time->shift_ns = (int64_t)(profile->start_ns % second_ns);
	for (size_t i = 0; i < n; i++)
		ranges[i] = query->ranges[i];
	if (n == 0)
		n = 1;
	for (size_t i = 0; i < n; i++) {
		struct query_every *rows = &ranges[i].every;

		if (!both && query->every.every_ns)
			*rows = query->every;
		if (rows->every_ns)
			time->period_ns = at_most_int64(rows->every_ns);
	}
	if (both) {
		time->every = query->every;
		time->cycle_ns = common_period(second_ns, query->every.every_ns);
		if (time->cycle_ns == 0)
			return false;
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

/* How much of the time up to TIME_NS is in rows. */
static int64_t rows_until(const struct query_every *rows, int64_t time_ns)
{
	const int64_t period = at_most_int64(rows->every_ns);
	const int64_t length = at_most_int64(rows->to_ns - rows->from_ns);
	const int64_t rest = rest_of(time_ns, period);
	const int64_t within = rest - at_most_int64(rows->from_ns);

	return (time_ns - rest) / period * length + (within < 0        ? 0
						     : within < length ? within
								       : length);
}

/* How much of [FROM, TO), since the whole second, is in the rows of every period. */
static int64_t within_every(const struct wall_time *time, int64_t from, int64_t to)
{
	if (time->cycle_ns == 0)
		return to - from;
	return rows_until(&time->every, to) - rows_until(&time->every, from);
}

/* How much of [FROM, TO) of the period that begins at START is in rows of these ranges. */
static int64_t within_period(const struct wall_time *time, uint64_t ranges, int64_t start,
			     int64_t from, int64_t to)
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
		sum += within_every(time, start + begin, start + end);
		from = end; /* rows that begin later may overlap these */
	}
	return sum;
}

/* Of [FROM, TO), since the whole second, each period by itself. */
static int64_t within_periods(const struct wall_time *time, uint64_t ranges, int64_t from,
			      int64_t to)
{
	const int64_t period = time->period_ns;
	int64_t sum = 0;

	for (int64_t start = from - rest_of(from, period); start < to; start += period)
		sum += within_period(time, ranges, start, from > start ? from - start : 0,
				     to - start < period ? to - start : period);
	return sum;
}

/* How much of a span that is in all RANGES is in their rows. */
static int64_t within_rows(const struct wall_time *time, uint64_t ranges, int64_t from, int64_t to)
{
	const int64_t cycle = time->cycle_ns ? time->cycle_ns : time->period_ns;
	const int64_t cycles = (to - from) / cycle;
	const int64_t rest = from + cycles * cycle;

	return (cycles ? cycles * within_periods(time, ranges, from, from + cycle) : 0) +
	       within_periods(time, ranges, rest, to);
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
		from += time->shift_ns;
		to += time->shift_ns;
		sum += part->whole ? within_every(time, from, to)
				   : within_rows(time, part->ranges, from, to);
	}
	return sum;
}
