/* flight_counts.h - what the counters were at moments of the past, for files that begin there */
#ifndef FLIGHT_FLIGHT_COUNTS_H
#define FLIGHT_FLIGHT_COUNTS_H

#include "base/sample.h"
#include "output/text/perf_script.h"

#include <stddef.h>
#include <stdint.h>

enum { FLIGHT_MOMENTS = 96, FLIGHT_MOST_COUNTS = 32 };

struct flight_moment {
	uint64_t time_ns;
	uint64_t values[N_SERIES][FLIGHT_MOST_COUNTS];
};

/* Zero it but for step_ns. */
struct flight_counts {
	uint64_t step_ns; /* between two moments; FLIGHT_MOMENTS of them are kept */
	struct flight_moment moments[FLIGHT_MOMENTS];
	size_t n; /* ever */
	const char *names[N_SERIES][FLIGHT_MOST_COUNTS];
	size_t n_names[N_SERIES];
	struct perf_script_count before[FLIGHT_MOST_COUNTS]; /* what flight_counts_at() gives */
};

/**
 * flight_counts_add - the counters of a series as they are now
 *
 * Kept is what comes a step after the last that was kept, of all series together.
 *
 * Context: main thread, as for all of these.
 */
void flight_counts_add(struct flight_counts *counts, enum sample_series series,
		       const struct perf_script_count *now, size_t n, uint64_t now_ns);

/**
 * flight_counts_begin - the last kept moment that is not after TIME_NS
 *
 * Return:  its time; 0: there is none, and the counters begin at 0.
 * Context: main thread.
 */
uint64_t flight_counts_begin(const struct flight_counts *counts, uint64_t time_ns);

/**
 * flight_counts_at - the counters of a series at a moment that flight_counts_begin() gave
 *
 * Return:  how many; 0: all were 0.
 * Owns:    COUNTS; good until the next call.
 * Context: main thread.
 */
size_t flight_counts_at(struct flight_counts *counts, enum sample_series series, uint64_t time_ns,
			const struct perf_script_count **ret_counts);

#endif
