/*
 * internal.h - what is counted of a recording, for wick info to print
 *
 * Context: main thread, unless a function says another.
 */
#ifndef INFO_INTERNAL_H
#define INFO_INTERNAL_H

#include "base/buf.h"
#include "base/err.h"
#include "base/intern.h"
#include "base/map.h"
#include "flamescope/text/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROFILE_MAX_SHARES = 16 * 1024 };

/* One state, wait and object together.  The names are interned: equal ones are one pointer. */
struct profile_share {
	const char *state;
	const char *wait;   /* NULL: waits in nothing */
	const char *object; /* NULL: not known */
	uint64_t samples;
	uint64_t weight;
};

/* Zero is empty. */
struct profile_states {
	struct profile_share *items;
	size_t n;
	size_t room;
	struct map index;   /* of 1 + the place in items, by a hash of all three */
	uint64_t weight;    /* of the samples that say a state */
	uint64_t uncounted; /* shares beyond the limit, or without memory: their object is left out
			     */
};

/**
 * profile_states_add - count a sample; one that says no state is passed over
 * @names: keeps the words
 */
void profile_states_add(struct profile_states *states, struct intern *names,
			const struct perf_text_sample *sample);

/**
 * profile_states_print - shares by state, wait and object, when there is more than one state
 *
 * Context: any thread.
 */
void profile_states_print(const struct profile_states *states, struct buf *buf);

/**
 * profile_states_print_json - `,"states":[...],"waits":[...],"objects":[...]`
 *
 * Context: any thread.
 */
void profile_states_print_json(const struct profile_states *states, struct buf *buf);

/** profile_states_release - forget everything */
void profile_states_release(struct profile_states *states);

enum { PROFILE_MOST_TRIGGERS = 32 };

struct profile_trigger {
	uint64_t time_ns;
	const char *why;
	const char *value; /* NULL: none */
};

/* Zero it. */
struct profile_triggers {
	struct profile_trigger at[PROFILE_MOST_TRIGGERS];
	size_t n; /* also of those that there was no room for */
};

/**
 * profile_triggers_take - one more line
 * @json: what stands after "# trigger : "
 *
 * Owns:    NAMES has the texts.
 */
void profile_triggers_take(struct profile_triggers *triggers, struct intern *names,
			   const char *json);

/**
 * profile_triggers_print - a line each, as text for people; nothing when there are none
 * @first_ns: the time of the first sample
 */
void profile_triggers_print(const struct profile_triggers *triggers, uint64_t first_ns,
			    struct buf *buf);

/**
 * profile_triggers_print_json - as the member "triggers", a comma before it; nothing when there are
 * none
 */
void profile_triggers_print_json(const struct profile_triggers *triggers, struct buf *buf);

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
	uint64_t effective_hz; /* in force: less than hz for a budget; 0: as requested */
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
	struct profile_counts labels; /* how many samples have each */
	uint64_t exact_rows;          /* lines of exact counts */
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

struct profile_facts;

/**
 * profile_facts_read - read a recording, or any perf-script text, and count
 * @ret_facts: is also set when the file is damaged further on: what came before
 *
 * Return:  0; -errno of open; -EIO: damaged; -ENODATA: no sample and no header of wick's.
 * Owns:    the caller, to profile_facts_free().
 */
int profile_facts_read(const char *path, struct profile_facts **ret_facts, struct err *err);

/**
 * profile_facts_print - as text for people
 *
 * Context: any thread.
 */
void profile_facts_print(const struct profile_facts *facts, struct buf *buf);

/**
 * profile_facts_print_json - as one JSON object in one line
 *
 * Context: any thread.
 */
void profile_facts_print_json(const struct profile_facts *facts, struct buf *buf);

/**
 * profile_facts_free - forget everything
 *
 * Context: any thread.  NULL is fine.
 */
void profile_facts_free(struct profile_facts *facts);

#endif
