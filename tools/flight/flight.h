/*
 * flight.h - the flight recorder: the last samples in memory, written when a trigger fires
 *
 * Context: main thread, unless a function says another.
 */
#ifndef FLIGHT_FLIGHT_H
#define FLIGHT_FLIGHT_H

#include "base/err.h"
#include "base/sample.h"
#include "output/files/recording.h"
#include "output/text/perf_script.h"
#include "sampler/collector/collector.h"
#include "tools/flight/trigger.h"
#include "tools/options/options.h"
#include "tools/samples/samples.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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
 */
void flight_counts_add(struct flight_counts *counts, enum sample_series series,
		       const struct perf_script_count *now, size_t n, uint64_t now_ns);

/**
 * flight_counts_begin - the last kept moment that is not after TIME_NS
 *
 * Return:  its time; 0: there is none, and the counters begin at 0.
 */
uint64_t flight_counts_begin(const struct flight_counts *counts, uint64_t time_ns);

/**
 * flight_counts_at - the counters of a series at a moment that flight_counts_begin() gave
 *
 * Return:  how many; 0: all were 0.
 * Owns:    COUNTS; good until the next call.
 */
size_t flight_counts_at(struct flight_counts *counts, enum sample_series series, uint64_t time_ns,
			const struct perf_script_count **ret_counts);

struct flight_ring;

struct flight_ring_options {
	uint64_t window_ns; /* what is older than this before the newest is forgotten */
	size_t bytes;       /* what samples and frames may take together */
	uint32_t metrics;   /* bit i: keep metrics[i]; the others are 0 when they come back */
};

struct flight_ring_stats {
	uint64_t samples; /* in memory now */
	uint64_t bytes;
	uint64_t limit;     /* of bytes */
	uint64_t oldest_ns; /* of the first; 0: there is none */
	uint64_t newest_ns;
	uint64_t n_forced;  /* samples that went, or never came in, for lack of space */
	uint64_t forced_ns; /* the time of the newest of them */
};

/**
 * flight_ring_new - empty
 *
 * Return:  the ring; NULL when memory ran out.
 * Owns:    the caller, to flight_ring_free().
 */
struct flight_ring *flight_ring_new(const struct flight_ring_options *options);

/**
 * flight_ring_add - keep a sample, and forget what is too old or one too many
 *
 * SAMPLE is copied; what its frames, its wait and its op point to outlives the ring.
 */
void flight_ring_add(struct flight_ring *ring, const struct sample *sample);

/** flight_ring_forget - forget samples taken before a moment */
void flight_ring_forget(struct flight_ring *ring, uint64_t before_ns);

/**
 * flight_ring_each - visit the samples of a time, both ends included, in the order they came in
 *
 * VISIT does not change the ring; the sample and its frames hold until it returns.
 */
void flight_ring_each(struct flight_ring *ring, uint64_t from_ns, uint64_t until_ns,
		      void (*visit)(void *context, const struct sample *sample), void *context);

/** flight_ring_stats - what is in it, and what has gone for lack of space */
void flight_ring_stats(const struct flight_ring *ring, struct flight_ring_stats *ret_stats);

/**
 * flight_ring_free - forget everything
 *
 * Context: main thread.  NULL is fine.
 */
void flight_ring_free(struct flight_ring *ring);

enum {
	FLIGHT_MOST_WAITING = 16, /* files that wait for their last samples */
	FLIGHT_MOST_NOTES = 256,
	FLIGHT_NOTE_BYTES = 512,
};

struct flight_options {
	uint64_t window_ns; /* of a file that says nothing else */
	uint64_t keep_ns;   /* how long samples are kept; window_ns or more */
	size_t bytes;       /* in memory, at most */
	uint32_t metrics;   /* the columns to keep */
};

/* A comment line that belongs to a time. */
struct flight_note {
	uint64_t time_ns;
	const char *word; /* static */
	char json[FLIGHT_NOTE_BYTES];
};

/* A file that was requested.  number 0: none. */
struct flight_dump {
	uint64_t number;
	uint64_t from_ns;
	uint64_t until_ns;
	uint64_t barrier; /* of the collector, set when until_ns is reached; 0: not yet */
	uint64_t late_ns; /* it waits no longer than this */
	char why[128];
	bool done;
	int result;
	char *path;
};

/* Where the files come from. */
struct flight_files {
	struct recording *recording; /* made with on_demand, as all of these */
	struct hook_files *beside;
	enum sample_series series; /* of the recording */
	/* Before a file ends: what else belongs into it. */
	void (*ending)(void *context, uint64_t from_ns, uint64_t until_ns);
	void *ending_context;
};

/* Zero it: then it is off, and every call does nothing; flight_release() takes any state. */
struct flight {
	struct flight_ring *ring;
	struct flight_files files;
	struct collector *collector;
	uint64_t window_ns;  /* of a file that says nothing else */
	uint64_t restart_ns; /* nothing is older; 0: there is everything */
	struct flight_counts counts;
	struct flight_dump dumps[FLIGHT_MOST_WAITING];
	uint64_t n_asked;
	uint64_t barrier; /* the last that has come by */
	struct flight_note notes[FLIGHT_MOST_NOTES];
	size_t n_notes;    /* ever; they are kept round about */
	uint64_t crash_ns; /* of the last process that was not CMD, and what was not written */
	uint64_t n_crashes_unwritten;
	int n_signals;
	uint64_t n_files;
};

/**
 * flight_start - begin to keep samples, and to listen to SIGUSR2
 *
 * Return:  0; -ENOMEM.
 * Owns:    FILES and COLLECTOR outlive it.
 */
int flight_start(struct flight *flight, const struct flight_options *options,
		 struct collector *collector);

/** flight_is_on - whether samples are kept instead of written */
bool flight_is_on(const struct flight *flight);

/**
 * flight_sample - keep a sample
 *
 * Return:  false: it is off.
 */
bool flight_sample(struct flight *flight, const struct sample *sample);

/**
 * flight_restart - forget what came before: weights are counted in other periods from now on
 * @time_ns: when that is; the counters of that moment are added next
 */
void flight_restart(struct flight *flight, uint64_t time_ns);

/**
 * flight_note - keep a comment line: `# WORD : JSON`, for every file whose window has its time
 * @word: static
 */
void flight_note(struct flight *flight, uint64_t time_ns, const char *word, const char *json);

/**
 * flight_note_why - the line `# trigger`: why a file was requested
 * @value: what a trigger saw; NULL: it was none
 */
void flight_note_why(struct flight *flight, uint64_t time_ns, const char *why, const char *value);

/**
 * flight_barrier_passed - everything up to a barrier of the collector has come to flight_sample()
 */
void flight_barrier_passed(struct flight *flight, uint64_t barrier);

/**
 * flight_ended - a process has ended
 * @ended_by: as the collector has it
 * @target: it is one that was named: its end is never one too many
 *
 * A signal that is not a request to end has the last samples written.
 */
void flight_ended(struct flight *flight, pid_t pid, int ended_by, bool target, uint64_t now_ns);

/**
 * flight_ask - have the samples of a window written, which may end later
 * @why: what the message says; it is copied
 *
 * Return:  false: it is off, or too many wait.
 */
bool flight_ask(struct flight *flight, const char *why, uint64_t from_ns, uint64_t until_ns);

/** flight_is_due - whether flight_tick() has a file to write, for which counts should be new */
bool flight_is_due(struct flight *flight, uint64_t now_ns);

/**
 * flight_due_ns - when flight_tick() next has something to do by the clock
 *
 * Return:  ns; UINT64_MAX: no file waits for its time.
 */
uint64_t flight_due_ns(const struct flight *flight, uint64_t now_ns);

/** flight_tick - check for SIGUSR2, and write what is due */
void flight_tick(struct flight *flight, uint64_t now_ns);

/**
 * flight_now - write the samples of the last window_ns: everything up to now has been kept
 * @why: as for flight_ask()
 *
 * Return:  0 and the path, NULL where memory ran out; -EBUSY: too many wait; -errno, and why has
 *          been printed.
 * Owns:    the flight; good until the next call of another function.
 */
int flight_now(struct flight *flight, const char *why, uint64_t now_ns, const char **ret_path);

/** flight_finish - write what was requested: nothing more will come */
void flight_finish(struct flight *flight);

/** flight_release - forget everything */
void flight_release(struct flight *flight);

/* Ids of the options, beside the command's own. */
enum {
	OPT_FLIGHT = 2048,
	OPT_TRIGGER,
	OPT_FOR,
	OPT_COOLDOWN,
	OPT_PRE,
	OPT_POST,
	OPT_LIMIT,
};

/* Their rows of the table. */
#define FLIGHT_OPTION_SPECS                                                                        \
	{OPT_FLIGHT, "flight", "DUR",                                                              \
	 "keep only the last DUR, in memory (128M, or 256M with 60s:256M); write it when the "     \
	 "program crashes, on SIGUSR2 or on wick flush"},                                          \
		{OPT_TRIGGER, "trigger", "EXPR",                                                   \
		 "also write it when EXPR becomes true, for example 'cpu>80% for 2s'; may be "     \
		 "repeated"},                                                                      \
		{OPT_FOR, "trigger-for", "DUR",                                                    \
		 "how long EXPR must be true, unless it says so itself (default: 0)"},             \
		{OPT_COOLDOWN, "trigger-cooldown", "DUR",                                          \
		 "how long EXPR must be false before it can fire again (default: 30s)"},           \
		{OPT_PRE, "trigger-pre", "DUR",                                                    \
		 "how much time before the trigger its file covers (default: 10s)"},               \
		{OPT_POST, "trigger-post", "DUR",                                                  \
		 "how much time after the trigger its file covers (default: 10s)"},                \
		{OPT_LIMIT, "trigger-limit", "N",                                                  \
		 "write at most N trigger files in an hour (default: 12)"},                        \
		{OPT_FOR, "for", "DUR", NULL}, {OPT_COOLDOWN, "cooldown", "DUR", NULL},            \
		{OPT_PRE, "pre", "DUR", NULL}, {OPT_POST, "post", "DUR", NULL},                    \
	{                                                                                          \
		OPT_LIMIT, "limit", "N", NULL                                                      \
	}

/* Zero it, then flight_options_init(). */
struct flight_choice {
	uint64_t window_ns; /* of --flight; 0: it was not given */
	uint64_t bytes;
	struct trigger_condition conditions[TRIGGER_MOST];
	size_t n_conditions;
	uint64_t for_ns;
	uint64_t cooldown_ns;
	uint64_t pre_ns;
	uint64_t post_ns;
	unsigned hourly;
	bool tuned; /* one of the options that only triggers have was given */
};

/**
 * flight_options_init - the defaults
 *
 * Context: any thread, as for all of these.
 */
void flight_options_init(struct flight_choice *choice);

/**
 * flight_options_take - take in one of the options above
 *
 * Return:  1; 0: it is none of them; -EINVAL and the reason.
 * Owns:    VALUE outlives the choice.
 * Context: any thread.
 */
int flight_options_take(int id, const char *value, struct flight_choice *choice, struct err *err);

/**
 * flight_options_on - whether samples go to memory first
 *
 * Context: any thread.
 */
bool flight_options_on(const struct flight_choice *choice);

/**
 * flight_options_pass - the same for the flight recorder, but for the columns to keep
 *
 * Context: any thread.
 */
void flight_options_pass(const struct flight_choice *choice, struct flight_options *to);

/**
 * flight_options_gauges - have the gauges of triggers recorded, and find their columns
 *
 * Return:  0; -EINVAL and the reason: there are too many.
 * Context: any thread.
 */
int flight_options_gauges(struct flight_choice *choice, struct metric_list *metrics,
			  struct err *err);

/**
 * flight_options_check - what the options ask of each other
 * @rotated: --rotate was given
 *
 * Return:  0; -EINVAL and the reason.
 * Context: any thread.
 */
int flight_options_check(const struct flight_choice *choice, bool rotated, struct err *err);

#endif
