/* profile_counts.h - what profile_facts has counted, for those that print it */
#ifndef INFO_PROFILE_COUNTS_H
#define INFO_PROFILE_COUNTS_H

#include "base/intern.h"
#include "base/map.h"
#include "flamescope/text/text.h"
#include "tools/info/profile_states.h"
#include "tools/info/profile_triggers.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	PROFILE_MAX_THREADS = 256 * 1024,
	PROFILE_MAX_MODULES = 64 * 1024,
	PROFILE_MAX_COUNTS = 64,
	PROFILE_NAME_SIZE = 64,
};

struct thread_count {
	const char *comm;
	int64_t pid;
	int64_t tid;
	uint64_t samples;
	uint64_t weight;
	double stood; /* seconds, or without a rate what its samples weighed */
};

struct profile_module {
	const char *path;
	uint64_t frames;
	uint64_t named;
	const char *build_id; /* these as the end line has them; NULL: it has not */
	const char *names;
	const char *missing;
	const char *try;
};

/* A number of the header or the end line, or a metric with its unit and kind. */
struct profile_count {
	char name[PROFILE_NAME_SIZE];
	char unit[PROFILE_NAME_SIZE];
	char kind[PROFILE_NAME_SIZE];
	uint64_t value;
};

struct profile_counts {
	struct profile_count items[PROFILE_MAX_COUNTS];
	size_t n;
};

struct profile_facts {
	const char *path;
	struct perf_text_stats text;
	struct intern names;
	struct map threads; /* of struct thread_count, by pid and tid */
	struct map modules; /* of struct profile_module, by the address of the path */
	struct profile_states states;
	struct profile_triggers triggers;
	uint64_t samples;
	uint64_t weight;
	uint64_t least; /* weight of a sample */
	double squares; /* of the weights, summed */
	double stood;   /* as in a thread */
	uint64_t hz;    /* that weights count periods of, here; 0: not said */
	uint64_t least_hz;
	uint64_t most_hz;
	uint64_t effective_hz; /* in force: less than hz for a budget; 0: as asked */
	uint64_t lowest_hz;    /* the least of these; 0: it never was less */
	uint64_t lowered_since_ns;
	uint64_t lowered_ns; /* for how long it was less */
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t frames;
	uint64_t named;
	uint64_t inlined; /* beside them: calls that were inlined */
	uint64_t cut;
	uint64_t idle;      /* samples of idle CPUs */
	uint64_t uncounted; /* of threads or modules beyond the limits */
	const char *event;  /* of the first sample */
	char captured[PROFILE_NAME_SIZE];
	char *cmdline;
	bool folded; /* stacks and their counts: without times, threads and modules */
	bool has_header;
	bool has_end;
	bool damaged;
	struct profile_counts events; /* samples of each; all else here is of the first */
	struct profile_counts header;
	struct profile_counts metrics;
	struct profile_counts end;
};

/**
 * profile_counts_find - a number by its name
 *
 * Return:  the number, or FALLBACK when it is not there.
 * Context: any thread.
 */
uint64_t profile_counts_find(const struct profile_counts *counts, const char *name,
			     uint64_t fallback);

#endif
