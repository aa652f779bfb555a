/*
 * export.h - exact counts and wick's own numbers, for other programs: JSON lines, and Prometheus
 *
 * Context: main thread, unless a function says another.
 */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/sample.h"
#include "sampler/collector/collector.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* sink: where JSON lines go: a file, standard output, a socket, a command */

enum {
	SINK_WAITING_BYTES = 8 * 1024 * 1024, /* that a slow reader has not taken; more is lost */
	SINK_LEAVE_MS = 2000,                 /* for what waits, at the end */
};

struct sink;

struct sink_stats {
	uint64_t lines;
	uint64_t lost; /* lines that no reader took */
};

/**
 * sink_new - open where lines go, and start the thread that writes them
 * @target: FILE (appended to), "-", "unix:PATH" or "|COMMAND"
 * @report: gets a line for a person when a write fails, once a cause
 *
 * A socket that is not there yet is tried again for each batch of lines.
 *
 * Return:  0; -errno and the reason.
 * Owns:    the caller, to sink_free().  TARGET must outlive it.
 * Context: main thread; REPORT is called from any.
 */
int sink_new(const char *target, void (*report)(const char *message), struct sink **ret_sink,
	     struct err *err);

/**
 * sink_add - have lines written; never waits
 * @lines: whole ones
 */
void sink_add(struct sink *sink, const char *lines, size_t len);

/** sink_stats - the counters so far */
void sink_stats(struct sink *sink, struct sink_stats *ret_stats);

/**
 * sink_free - write what waits, for at most SINK_LEAVE_MS, and end
 * @ret_stats: at the end; NULL is fine
 *
 * A thread that a reader does not let go is left behind.  NULL is fine.
 */
void sink_free(struct sink *sink, struct sink_stats *ret_stats);

/* series: which rows have series of their own */

enum {
	SERIES_VALUES = 24,                          /* of a row */
	SERIES_MOST = 50,                            /* K at most */
	SERIES_SLOTS = SERIES_MOST + SERIES_MOST / 2 /* series at most */
};

/* One row: it becomes the series with these labels.  Views. */
struct series_row {
	const char *labels;
	uint64_t rank; /* 0: never a series */
	uint64_t values[SERIES_VALUES];
	size_t index; /* the caller's */
};

struct series_slot {
	char *labels; /* of a series that is there; NULL: free */
	uint64_t base[SERIES_VALUES];
};

struct series_past {
	uint64_t hash; /* of the labels */
	uint64_t values[SERIES_VALUES];
};

/*
 * A row is in from rank K on, and out beyond rank 1.5 K.  A series counts from where it came in:
 * what the row had before is in `other`, which gets all of it when the row leaves.  So no series
 * ever goes down, and together they are all that was counted.  Zero it but for k and n_values.
 */
struct series {
	size_t k;
	size_t n_values;
	struct series_slot slots[SERIES_SLOTS];
	struct series_past *past; /* rows as they were last time */
	size_t n_past;
};

struct series_choice {
	size_t n;
	size_t rows[SERIES_SLOTS]; /* places in ROWS, by rank */
	uint64_t values[SERIES_SLOTS][SERIES_VALUES];
	uint64_t other[SERIES_VALUES];
	bool others; /* there is something in `other` */
};

/**
 * series_choose - which rows are series now
 * @rows: by rank, the highest first; labels differ
 *
 * Return:  0; -ENOMEM.
 */
int series_choose(struct series *top, const struct series_row *rows, size_t n,
		  struct series_choice *ret_choice);

/** series_forget - begin anew: rows count from zero again */
void series_forget(struct series *top);

/* functions: CPU by function, in bounded memory */

enum { FUNCTIONS_MOST = 4096 };

struct function_count {
	const char *symbol; /* views of the symbolizer's, as in samples; NULL: unknown */
	const char *module;
	uint64_t ns;     /* since it is in the table: never more than was sampled */
	uint64_t before; /* that it may have had before: what it replaced had so much */
};

struct functions;

/**
 * functions_new - no samples yet
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller, to functions_free().
 */
int functions_new(struct functions **ret_functions);

/**
 * functions_add - NS of CPU in the innermost frame of a sample
 *
 * When the table is full the function with the least makes room, as in Space-Saving (Metwally et
 * al., ICDT 2005); what it had stays in the total.
 */
void functions_add(struct functions *functions, const struct frame *leaf, uint64_t ns);

/**
 * functions_sorted - the functions, those with the most CPU first, and what all of them had
 *
 * Return:  how many.
 * Owns:    FUNCTIONS; good until the next call on it.
 */
size_t functions_sorted(struct functions *functions, const struct function_count **ret_counts,
			uint64_t *ret_total_ns);

/** functions_free - forget all; NULL is fine */
void functions_free(struct functions *functions);

/* page: the text that Prometheus reads */

enum {
	PAGE_BYTES = 32 * 1024 * 1024,
	PAGE_TASKS = 10,        /* k of tasks and functions with wick.h, */
	PAGE_IDENTITIES = 20,   /* of the identities of a tier, */
	PAGE_FUNCTIONS = 20,    /* of sampled functions */
	PAGE_TIERS = 20,        /* that have series; further ones are left out, and counted */
	PAGE_BUCKETS = 20,      /* of a histogram, without +Inf */
	PAGE_FIRST_OCTAVE = 14, /* the first bucket ends at 2^14 ns; each is twice the last */
	PAGE_OWN = 40,          /* more than there are of wick itself */
	PAGE_ROWS = PAGE_IDENTITIES + PAGE_IDENTITIES / 2 + 3, /* of a tier: _total, -, other */
	PAGE_MOST_SERIES = (PAGE_TIERS + 1) * PAGE_ROWS * (PAGE_BUCKETS + 3) +
			   PAGE_TIERS * PAGE_ROWS + 2 * 6 * (SERIES_SLOTS + 1) + PAGE_FUNCTIONS +
			   PAGE_FUNCTIONS / 2 + 1 + PAGE_OWN,
};

/* What the page says of wick itself. */
struct page_self {
	const struct collector_stats *stats;
	uint32_t hz;
	uint32_t effective_hz;
	bool paused;
	uint64_t collector_ns; /* CPU of wick */
	uint64_t lines_lost;   /* of --stats-to */
	uint64_t dropped;      /* samples that no disk took */
};

struct page_maker;

/**
 * page_maker_new - what pages remember of each other: which series there were
 * @top_tasks: k of tasks
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller, to page_maker_free().
 */
int page_maker_new(size_t top_tasks, struct page_maker **ret_maker);

/**
 * page_make - the whole page
 * @functions: NULL: none
 * @open_metrics: OpenMetrics 1.0 with exemplars; else the text format 0.0.4
 *
 * Return:  0; -ENOMEM; -EFBIG.
 */
int page_make(struct page_maker *maker, const struct totals *totals, struct functions *functions,
	      const struct page_self *self, bool open_metrics, struct buf *buf);

/** page_maker_free - NULL is fine */
void page_maker_free(struct page_maker *maker);

/**
 * page_write_file - put the page at PATH, atomically
 *
 * Return:  0; -errno and the reason.
 */
int page_write_file(const char *path, const struct buf *page, struct err *err);

/**
 * page_check_file - whether PATH may be written by page_write_file(), and removed
 *
 * Return:  0: there is none, or it is a page of wick; -EEXIST: it is anything else; -errno.
 */
int page_check_file(const char *path, struct err *err);

/* page_text: lines of the page */

struct page_text {
	struct buf *buf;
	bool open_metrics;
	size_t n_series;
};

/**
 * page_label - NAME="VALUE", escaped; a comma before it unless it is the first
 *
 * Bytes that are no UTF-8 become U+FFFD.
 */
void page_label(struct buf *buf, const char *name, const char *value);

/**
 * page_family - begin the series of one name
 * @name: without _total
 * @type: "counter", "gauge", "histogram"
 * @unit: NAME ends in it; NULL: none
 */
void page_family(struct page_text *text, const char *name, const char *type, const char *unit,
		 const char *help);

/** page_seconds - a series: NAME{LABELS} and NS as seconds, to the last ns */
void page_seconds(struct page_text *text, const char *name, const char *labels, uint64_t ns);

/** page_count - the same of a count */
void page_count(struct page_text *text, const char *name, const char *labels, uint64_t count);

/* Of a bucket of a histogram: one of its durations. */
struct page_exemplar {
	const uint8_t *trace; /* TOTALS_TRACE_BYTES */
	uint64_t ns;
	uint64_t time_ns; /* since 1970 */
};

/**
 * page_histogram - the series of one histogram
 * @counts: up to the end of each of PAGE_BUCKETS buckets, and of all
 * @exemplar: NULL: none
 */
void page_histogram(struct page_text *text, const char *name, const char *labels,
		    const uint64_t counts[static PAGE_BUCKETS + 1], uint64_t sum_ns,
		    const struct page_exemplar *exemplar);

/* page_rows: rows by their labels: those that look the same are one */

struct page_rows {
	struct series_row *at;
	size_t n;
	size_t size;
	struct intern labels;
	struct map by_labels;
};

/**
 * page_rows_get - the row with these labels, a new one with values of zero if there is none
 *
 * Return:  the row; NULL: no memory.
 * Owns:    ROWS; good until the next call on it.
 */
struct series_row *page_rows_get(struct page_rows *rows, struct buf *labels, size_t index);

/** page_rows_sort - by rank, the highest first */
void page_rows_sort(struct page_rows *rows);

/** page_rows_release - forget all */
void page_rows_release(struct page_rows *rows);

/* listener: the page over HTTP */

enum {
	LISTENER_CLIENTS = 8,
	LISTENER_IDLE_S = 3,     /* for a request, and for its answer */
	LISTENER_WAIT_MS = 5000, /* for a page */
	LISTENER_AGAIN_MS = 250, /* for which a page is the answer to further requests */
};

struct listener;

/**
 * listener_new - serve /metrics
 * @where: "ADDRESS:PORT", "[ADDRESS]:PORT", "PORT" or ":PORT" (of 127.0.0.1), "unix:PATH"
 * @nudge: is called when listener_wanted() has become true
 *
 * Return:  0; -errno and the reason.
 * Owns:    the caller, to listener_free().  WHERE must outlive it.
 * Context: main thread; NUDGE is called from another.
 */
int listener_new(const char *where, void (*nudge)(void *context), void *context,
		 struct listener **ret_listener, struct err *err);

/**
 * listener_check - whether WHERE can be one
 *
 * Return:  0; -EINVAL and the reason.
 */
int listener_check(const char *where, struct err *err);

/**
 * listener_takes_host - whether a Host header is for a loopback address
 *
 * A name of a web page's that resolves to it (DNS rebinding) is not: an address, localhost and
 * the name of this machine are.
 *
 * Context: any thread.
 */
bool listener_takes_host(const char *host);

/**
 * listener_wanted - whether a client waits for a page
 * @ret_open_metrics: of which kind
 */
bool listener_wanted(struct listener *listener, bool *ret_open_metrics);

/** listener_give - the page that was wanted; NULL: there is none.  It is copied. */
void listener_give(struct listener *listener, const struct buf *page);

/**
 * listener_address - where it is, for people: "http://127.0.0.1:9464/metrics"
 *
 * Owns:    the listener.
 */
const char *listener_address(const struct listener *listener);

/** listener_free - close all connections; NULL is fine */
void listener_free(struct listener *listener);

/* export_options: of wick record */

enum {
	OPT_STATS_EVERY = 1800,
	OPT_STATS_TO,
	OPT_LISTEN,
	OPT_TEXTFILE,
	OPT_TOP_TASKS,
};

enum { EXPORT_TARGETS = 4 };

struct export_options {
	uint64_t every_ns; /* 0: counts are written at the end of each file alone */
	const char *targets[EXPORT_TARGETS];
	size_t n_targets;
	const char *listen;   /* NULL: no server */
	const char *textfile; /* NULL: none */
	uint32_t top_tasks;
};

/* Rows of an option table. */
#define EXPORT_OPTION_SPECS                                                                        \
	{OPT_STATS_EVERY, "stats-every", "DUR",                                                    \
	 "after each DUR, write its exact counts (wick.h) to the recording and to --stats-to "     \
	 "(default: "                                                                              \
	 "60s with --stats-to, otherwise at the end of each file)"},                               \
		{OPT_STATS_TO, "stats-to", "WHERE",                                                \
		 "also write these counts as JSON lines: to a file (appended), -, unix:PATH or "   \
		 "'|COMMAND'"},                                                                    \
		{OPT_LISTEN, "listen", "ADDRESS",                                                  \
		 "serve counts to Prometheus at ADDRESS: 127.0.0.1:9464, or unix:PATH"},           \
		{OPT_TEXTFILE, "textfile", "FILE",                                                 \
		 "write the same to FILE every 15s (or --stats-every), for node_exporter"},        \
	{                                                                                          \
		OPT_TOP_TASKS, "top-tasks", "N",                                                   \
			"with --listen and --textfile: series for the N heaviest tasks, 1 to 50 "  \
			"(default: 10)"                                                            \
	}

/**
 * export_options_take - take in one of the options above
 *
 * Return:  1; 0: it is none of them; -EINVAL and the reason.
 * Owns:    VALUE outlives the options.
 */
int export_options_take(int id, const char *value, struct export_options *options, struct err *err);

/** export_options_settle - what holds where an option was not given */
void export_options_settle(struct export_options *options);

#endif
