/*
 * query.h - which samples, how they count and what their stacks are
 *
 * Context: any thread, unless a function says another.
 */
#ifndef QUERY_QUERY_H
#define QUERY_QUERY_H

#include "base/err.h"
#include "base/intern.h"
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
 */
int query_parse_measure(struct query *query, char *text, struct err *err);

/**
 * query_parse_range - `10s-20s`, `1.5-2.5` (seconds), `90s-`, `-100ms` and rectangles
 *                     `10s-20s@0-100ms` ("0 to 100 ms of every second")
 *
 * Units are ns, us, ms, s, m and h; an end without one has that of the other end, else seconds.
 *
 * Return:  0; -EINVAL and what is wrong; -E2BIG: more than QUERY_MAX_RANGES.
 */
int query_parse_range(struct query *query, const char *text, struct err *err);

/**
 * query_parse_every - `1s:0-100ms`: of all ranges, only the first 100 ms of each second
 *
 * Return:  0; -EINVAL and what is wrong.
 */
int query_parse_every(struct query *query, const char *text, struct err *err);

/* query_words: the options of the commands, without their dashes, and the words of a page's URL */

enum { QUERY_WORDS_KEPT = 160 };

/* Zero it. */
struct query_words {
	struct query query; /* points into the strings below */
	char *kept[QUERY_WORDS_KEPT];
	size_t n_kept;
};

/**
 * query_words_take - what one word adds to the query
 * @name: "time", "thread", "only", "group"...: what `wick report --help` lists as filters
 * @value: of "flatten" and "idle" it is not looked at, and may be NULL
 *
 * Return:  1; 0 when the word is none of these; -EINVAL and the reason; -ENOMEM; -errno of a file
 *          of rules.
 */
int query_words_take(struct query_words *words, const char *name, const char *value,
		     struct err *err);

/** query_words_release - forget the strings; the query points nowhere after it */
void query_words_release(struct query_words *words);

/* period: what a sample stands for, in a unit that people know */

struct profile;

/* weight * MULTIPLY / DIVIDE is in UNIT. */
struct period {
	const char *unit; /* "ns", "us", "B", "samples", "periods", the event's name; "": several */
	const char *noun; /* after the amount of all: "of CPU", "allocated", the event's name; "" */
	bool is_default;  /* what views count by default; else they count samples */
	uint64_t multiply;
	uint64_t divide;
	bool is_wall; /* a sample ends the time of its thread that it stands for (0011) */
};

/* What a recording says of its weights. */
struct period_kind {
	bool is_wick;   /* all of it has wick's header */
	bool has_times; /* false: folded stacks */
	uint64_t hz;    /* of wick's clocks; 0: not said */
	uint64_t least; /* weight of any sample; 0: there is none */
	size_t n_events;
	const char *const *events;
};

/**
 * period_of_kind - what the weights of a recording are
 *
 * wick's are periods of a clock, bytes, microseconds or occurrences (docs/perf-script.md); perf's
 * are nanoseconds of its two clocks, and occurrences of everything else.
 *
 * Owns:    the names of the events have to outlive the words.
 */
struct period period_of_kind(const struct period_kind *kind);

/**
 * period_of - the same of a profile, which has to outlive the words
 * @event: whose samples are counted, of the profile's; SELECTION_EVERY_EVENT: all of them
 */
struct period period_of(const struct profile *profile, uint32_t event);

/** period_value - a weight in the period's unit; what does not fit becomes the most that does */
int64_t period_value(const struct period *period, uint64_t weight);

/**
 * period_can_be - whether the samples of a recording can stand for so much CPU time
 * @length_ns: from its first sample to the last
 *
 * No machine has more than PROFILE_CPU_UNKNOWN CPUs; a minute is for what was before and after.
 */
bool period_can_be(double seconds, uint64_t length_ns);

/**
 * period_is_to_come - whether a recording says that its last sample is more than a day ahead
 * @epoch_offset_ns: of its clock from the time since 1970
 */
bool period_is_to_come(int64_t epoch_offset_ns, uint64_t last_ns);

/* dimension: what groups samples: their threads, states, CPUs... */

/*
 * A sample's value is a number below n_values; no two values have the same label.  The label of
 * samples that say nothing is "".
 */
struct dimension {
	const char *name;
	const uint32_t *numbers; /* one of these is the column, the others are NULL */
	const uint16_t *words;
	const uint8_t *bytes;
	uint8_t *made; /* a column that the profile does not have; BYTES is the same */
	size_t n_codes;
	uint32_t *value_of; /* of the column's codes; those beyond n_codes have the last value */
	size_t n_values;
	const char **labels;
	struct intern strings;
};

/**
 * dimension_init - the values of a dimension of a profile
 * @delta_metric: the metric whose changes are counted, for "sign"; NULL: none
 *
 * thread (name and tid), comm, tid, pid, process (pid and the name that most of its main thread's
 * samples have), host, cpu, event, and the profile's tags: state, wait, on, op, task, trace...
 * (req is another name of span).
 * METRIC:class is the size class of the sample's value ("100s MiB"), METRIC:sign whether it was a
 * gain or a loss, and sign the same of DELTA_METRIC.
 *
 * Return:  0; -ENOENT and which there are; -ENOMEM.
 * Owns:    the caller, to dimension_release(); the profile and NAME have to outlive it.
 */
int dimension_init(struct dimension *dimension, const struct profile *profile, const char *name,
		   const char *delta_metric, struct err *err);

/** dimension_is_label - whether a word is one that programs label their samples with: task, tier...
 */
bool dimension_is_label(const char *word);

/** dimension_release - free it; a zeroed one is fine */
void dimension_release(struct dimension *dimension);

/** dimension_value - the number of a sample's value */
static inline uint32_t dimension_value(const struct dimension *dimension, size_t sample)
{
	size_t code = dimension->numbers ? dimension->numbers[sample]
		      : dimension->words ? dimension->words[sample]
					 : dimension->bytes[sample];

	return dimension->value_of[code < dimension->n_codes ? code : dimension->n_codes];
}

/* idle: samples of CPUs that have nothing to do, as `perf record -a` takes them */

/* One a thread, and one a node; both NULL where no thread is the kernel's idle one. */
struct idle {
	uint8_t *threads;
	uint8_t *nodes;
};

/**
 * idle_init - find the idle threads (swapper) of a profile, and the stacks that are idle
 *
 * A stack is idle when a function in it is one of those by which FlameScope knows it.
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller, to idle_release(), also when it failed.
 */
int idle_init(struct idle *idle, const struct profile *profile);

/** idle_has - whether a sample is of an idle CPU */
bool idle_has(const struct idle *idle, const struct profile *profile, size_t sample);

/** idle_is_thread - whether a thread is the one that runs where nothing else does */
bool idle_is_thread(const char *comm, int64_t tid);

/** idle_is_function - whether a function of that thread waits for something to run */
bool idle_is_function(const char *name);

/** idle_release - free it */
void idle_release(struct idle *idle);

/* elide_rules: INI files of frames that say nothing: wrappers, dispatchers, executors */

/**
 * elide_rules_read - one pattern out of a file of rules, for query.elide
 * @name: a path, or "wrappers" for the rules that come with wick (query/wrappers.ini)
 *
 * The file has sections of any name, and lines `frame = PATTERN`; lines that begin with ; or # are
 * comments.  For a name out of a request from the network, only "wrappers" may be passed on.
 *
 * Return:  0; -EINVAL and the line that is wrong; -errno of the file; -EFBIG.
 * Owns:    the caller: free(*ret_pattern).
 */
int elide_rules_read(const char *name, char **ret_pattern, struct err *err);

/* selection: what a query takes out of a profile: samples, their values and their stacks */

enum { SELECTION_EVERY_EVENT = PROFILE_MAX_EVENTS };

/* When a thread was in what its sample shows, in ns since the profile's start; half open. */
struct selection_span {
	int64_t from_ns;
	int64_t to_ns;
};

/*
 * The stacks are a tree of their own: groups are outermost frames, what was elided is gone.  A
 * frame number below profile->n_frames is the profile's; above, the label of a group.
 */
struct selection {
	const struct profile *profile;
	size_t n;
	uint32_t *samples; /* their numbers in the profile, ascending */
	uint32_t *stacks;  /* nodes of NODES, one each */
	int64_t *values;   /* one each, by the query's measure */
	/*
	 * Of wall time one each, else NULL: VALUES are how much of the span is in the query's time.
	 * No two spans of a thread overlap.
	 */
	struct selection_span *spans;
	size_t n_nodes;
	struct profile_node *nodes; /* as the profile's: 0 is the root */
	size_t n_labels;
	char **labels;
	enum query_measure measure;
	const char *unit;         /* "samples", the period's (period.h) or the metric's */
	const char *noun;         /* after the amount of all: "of CPU"; "" */
	const char *delta_metric; /* whose changes are counted; NULL: none's are */
	bool is_signed;           /* QUERY_DELTA, or a metric that goes below zero */
	uint64_t n_absent;        /* samples that have no value of the metric: they are left out */
	uint64_t n_idle;          /* samples of idle CPUs that are left out */
	uint64_t n_others;        /* samples of other events than EVENT that are left out */
	uint32_t event;           /* the one whose samples these are; SELECTION_EVERY_EVENT */
	struct selection_memory *memory;
};

/**
 * selection_make - run a query
 *
 * Return:  0; -ENOENT: a dimension or metric that the profile has not, and which there are;
 *          -EINVAL: a pattern that is none; -E2BIG: a pattern took too long; -ENOMEM.
 * Owns:    the caller, to selection_free(); the profile has to outlive it.
 */
int selection_make(const struct profile *profile, const struct query *query,
		   struct selection **ret_selection, struct err *err);

/* What becomes of a selection's stacks. */
enum transform_kind {
	TRANSFORM_FOCUS, /* stacks begin at the outermost place of a function; others are dropped */
	TRANSFORM_MERGE, /* a function is left out: its callees hang on its callers */
	TRANSFORM_COLLAPSE, /* a function, or any ("") that calls itself directly is shown once */
	TRANSFORM_DROP,     /* samples with a function are left out */
	TRANSFORM_HIDE,     /* as merge, with all functions of a module */
};

/**
 * selection_transform - a selection with its stacks changed
 * @of: the name of a function, or of a module
 *
 * Return:  0; -ENOMEM; -E2BIG.
 * Owns:    the caller, to selection_free(); FROM may go, its query has to stay.
 */
int selection_transform(const struct selection *from, enum transform_kind kind, const char *of,
			struct selection **ret_selection, struct err *err);

/**
 * selection_frame_name - the name of a frame number, of the profile's or a group's
 *
 * Owns:    the selection or its profile.
 */
const char *selection_frame_name(const struct selection *selection, uint32_t frame);

/**
 * selection_time - how much of a span is in the time that a selection with spans was asked for
 *
 * Return:  ns; all of the span where it was asked for no time.  A range from 0 has all before.
 */
int64_t selection_time(const struct selection *selection, struct selection_span span);

/**
 * selection_free - free it
 *
 * Context: any thread.  NULL is fine.
 */
void selection_free(struct selection *selection);

#endif
