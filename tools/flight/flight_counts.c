/* flight_counts.c - what the counters were at moments of the past */
#include "tools/flight/flight.h"

#include <stdbool.h>

static struct flight_moment *moment_of(struct flight_counts *counts, size_t i)
{
	return &counts->moments[i % FLIGHT_MOMENTS];
}

/* The moment to write to: a new one when the last is a step old. */
static struct flight_moment *moment_for(struct flight_counts *counts, uint64_t now_ns)
{
	struct flight_moment *last = counts->n ? moment_of(counts, counts->n - 1) : NULL;

	if (last && last->time_ns == now_ns) /* another series of it */
		return last;
	if (last && now_ns - last->time_ns < counts->step_ns)
		return NULL;
	last = moment_of(counts, counts->n++);
	*last = (struct flight_moment){.time_ns = now_ns};
	return last;
}

void flight_counts_add(struct flight_counts *counts, enum sample_series series,
		       const struct perf_script_count *now, size_t n, uint64_t now_ns)
{
	struct flight_moment *moment = moment_for(counts, now_ns);

	if (!moment)
		return;
	counts->n_names[series] = n < FLIGHT_MOST_COUNTS ? n : FLIGHT_MOST_COUNTS;
	for (size_t i = 0; i < counts->n_names[series]; i++) {
		counts->names[series][i] = now[i].name;
		moment->values[series][i] = now[i].value;
	}
}

static const struct flight_moment *find(const struct flight_counts *counts, uint64_t time_ns)
{
	const struct flight_moment *found = NULL;
	size_t n = counts->n < FLIGHT_MOMENTS ? counts->n : FLIGHT_MOMENTS;

	for (size_t i = 0; i < n; i++) {
		const struct flight_moment *moment = &counts->moments[i];

		if (moment->time_ns <= time_ns && (!found || moment->time_ns > found->time_ns))
			found = moment;
	}
	return found;
}

uint64_t flight_counts_begin(const struct flight_counts *counts, uint64_t time_ns)
{
	const struct flight_moment *moment = find(counts, time_ns);

	return moment ? moment->time_ns : 0;
}

size_t flight_counts_at(struct flight_counts *counts, enum sample_series series, uint64_t time_ns,
			const struct perf_script_count **ret_counts)
{
	const struct flight_moment *moment = find(counts, time_ns);

	if (!moment)
		return 0;
	for (size_t i = 0; i < counts->n_names[series]; i++)
		counts->before[i] = (struct perf_script_count){counts->names[series][i],
							       moment->values[series][i]};
	*ret_counts = counts->before;
	return counts->n_names[series];
}
