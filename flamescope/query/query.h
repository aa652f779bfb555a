/* query.h - which samples, which part of their stacks, and what they count for */
#ifndef QUERY_QUERY_H
#define QUERY_QUERY_H

#include "base/err.h"
#include "flamescope/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QUERY_MAX_RANGES = 64, QUERY_MAX_PATTERNS = 32, QUERY_MAX_GROUPS = 8 };

/* How a metric counts. */
enum query_measure {
	QUERY_SAMPLES, /* each counts 1 */
	QUERY_WEIGHT,  /* what it stands for: period.h */
	QUERY_VALUE,   /* the metric's values, added up */
	QUERY_MEAN,    /* their mean: for a gauge */
	QUERY_DELTA,   /* what it changed by, with its sign */
	QUERY_GAIN,    /* only what it grew by */
	QUERY_LOSS,    /* only what it shrank by, as a positive number */
};

/*
 * A part of every EVERY_NS, which begin at the whole second of the profile's clock that its first
 * sample is in: the rows of a heatmap.  Half open; 0: all.
 */
struct query_every {
	uint64_t every_ns;
	uint64_t from_ns;
	uint64_t to_ns;
};

/* Half open, in nanoseconds since the profile's start; with EVERY a rectangle of a heatmap. */
struct query_range {
	uint64_t from_ns;
	uint64_t to_ns;
	struct query_every every;
};

/* Samples whose DIMENSION matches (or not); see dimension_init(). */
struct query_filter {
	const char *dimension;
	const char *pattern; /* PCRE2, unanchored; "" only matches samples that say nothing */
	bool exclude;
};

/*
 * Zero it for "everything, by the profile's own measure".  What must not be added up is not: of
 * several events the first is taken that the filters let pass, unless a group tells them apart.
 */
struct query {
	size_t n_ranges; /* 0: all of the time */
	struct query_range ranges[QUERY_MAX_RANGES];
	struct query_every every; /* of all ranges */
	size_t n_filters;         /* all have to agree */
	struct query_filter filters[QUERY_MAX_PATTERNS];
	size_t n_include; /* patterns: some frame of the stack has to match each */
	const char *include[QUERY_MAX_PATTERNS];
	size_t n_exclude; /* no frame may match any */
	const char *exclude[QUERY_MAX_PATTERNS];
	size_t n_groups; /* dimensions that become outermost frames, in this order */
	const char *groups[QUERY_MAX_GROUPS];
	bool has_measure; /* false: as the profile's period says */
	enum query_measure measure;
	const char *metric; /* for QUERY_VALUE and what follows */
	bool idle;          /* also samples of CPUs that have nothing to do (idle.h) */
	bool every_event;   /* also those of other events: the reader keeps them apart */
	bool flatten;       /* a function that calls itself directly is shown once */
	size_t n_elide;     /* frames that are left out: their callees hang on their callers */
	const char *elide[QUERY_MAX_PATTERNS];
	const char *focus;    /* stacks begin at the outermost match; those without are left out */
	const char *truncate; /* what the outermost match calls is counted as its own */
};

/**
 * query_delta_metric - the metric whose changes a query counts
 *
 * Return:  its name; NULL: the query counts something else.
 * Owns:    the query.
 * Context: any thread.
 */
const char *query_delta_metric(const struct query *query);

/**
 * query_parse_measure - `samples`, `period`, `NAME` (value), `NAME:value|mean|delta|gain|loss`
 *
 * NAME_delta is NAME:delta, as in the dialect of flame_prof; NAME:value takes NAME as it is;
 * `weight` is an old word for `period`.
 *
 * Return:  0; -EINVAL and what is wrong.
 * Owns:    query->metric points into TEXT, which is cut there.
 * Context: any thread.
 */
int query_parse_measure(struct query *query, char *text, struct err *err);

/**
 * query_parse_range - `10s-20s`, `1.5-2.5` (seconds), `90s-`, `-100ms` and rectangles
 *                     `10s-20s@0-100ms` ("0 to 100 ms of every second")
 *
 * Units are ns, us, ms, s, m and h; an end without one has that of the other end, else seconds.
 *
 * Return:  0; -EINVAL and what is wrong; -E2BIG: more than QUERY_MAX_RANGES.
 * Context: any thread.
 */
int query_parse_range(struct query *query, const char *text, struct err *err);

/**
 * query_parse_every - `1s:0-100ms`: of all ranges, only the first 100 ms of each second
 *
 * Return:  0; -EINVAL and what is wrong.
 * Context: any thread.
 */
int query_parse_every(struct query *query, const char *text, struct err *err);

#endif
