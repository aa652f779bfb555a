/*
 * samples.h - which samples are kept, and the files of those that hooks took
 *
 * Context: main thread, unless a function says another.
 */
#ifndef SAMPLES_SAMPLES_H
#define SAMPLES_SAMPLES_H

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "base/sample.h"
#include "output/files/recording.h"
#include "sampler/collector/collector.h"
#include "tools/options/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SELECTION_MAX_TIDS = 64 };

/* What was requested.  Zero keeps everything. */
struct sample_filter_options {
	uint32_t states; /* bits of 1 << enum sample_state; 0: all */
	struct collector_top top;
	const char *by;                 /* NULL: top.by is as it is */
	pid_t tids[SELECTION_MAX_TIDS]; /* these threads alone */
	size_t n_tids;                  /* 0: all */
	const char *threads;            /* a regular expression for names; NULL: all */
	const char *only_under;         /* a function that must be in the stack; NULL: any */
	bool only_profiled;             /* inside WICK_PROFILE_FN or wick_profile_start() */
};

enum { SELECTION_OTHERS = 3, SELECTION_NEAR = 160 };

/* Zero it; sample_filter_release() takes any state. */
struct sample_filter {
	const struct sample_filter_options *options;
	struct pattern *threads;
	struct buf only_under;              /* the function, as a file would spell it */
	struct buf symbol;                  /* one to compare with it */
	struct map last;                    /* metrics of each thread's last written sample */
	struct filtered filtered[N_SERIES]; /* what was left out */
	/* Names that exist, for a hint about a misspelt one; the drain thread's until it ends. */
	bool a_thread_matched;
	bool a_stack_matched;
	char others[SELECTION_OTHERS][SAMPLE_COMM_SIZE]; /* threads' names that did not match */
	char near[SELECTION_NEAR]; /* a function that has the one requested in its name */
};

/**
 * sample_filter_parse_states - a list of states: running,runnable,sleeping,disk,stopped
 *
 * Return:  0; -EINVAL and the reason.
 * Context: any thread, as for all of these but where it says otherwise.
 */
int sample_filter_parse_states(const char *text, uint32_t *ret_states, struct err *err);

/**
 * sample_filter_parse_top - how many threads and how often they are chosen: N or N:INTERVAL
 * @top: n and interval_ns are set
 *
 * Return:  0; -EINVAL and the reason.
 * Context: any thread.
 */
int sample_filter_parse_top(const char *text, struct collector_top *top, struct err *err);

/**
 * sample_filter_parse_by - what makes a thread heavy: cpu, rss, faults, run_delay, io, a gauge
 * @gauges: the N_GAUGES that are recorded; their columns begin at METRIC_BUILTIN
 * @top: by and gauge are set
 *
 * Return:  0; -EINVAL and the reason.
 * Context: any thread.
 */
int sample_filter_parse_by(const char *text, const char *const *gauges, size_t n_gauges,
			   struct collector_top *top, struct err *err);

/**
 * sample_filter_parse_threads - whether a text is a regular expression
 *
 * Return:  0; -EINVAL and the reason.
 * Context: any thread.
 */
int sample_filter_parse_threads(const char *text, struct err *err);

/**
 * sample_filter_check - what the options ask of each other
 * @events: COLLECT_*
 *
 * Return:  0; -EINVAL and the reason.
 * Context: any thread.
 */
int sample_filter_check(const struct sample_filter_options *options, uint32_t events,
			struct err *err);

/**
 * sample_filter_init - get ready
 *
 * Return:  0; -EINVAL, -ENOMEM and the reason.
 * Owns:    OPTIONS must outlive it.
 */
int sample_filter_init(struct sample_filter *filter, const struct sample_filter_options *options,
		       struct err *err);

/**
 * sample_filter_for_collector - the part that the collector sees to
 *
 * Owns:    the filter; the collector must end before it.
 */
struct collector_filter sample_filter_for_collector(struct sample_filter *filter);

/**
 * sample_filter_chooses - whether any sample may be left out
 *
 * Context: any thread.
 */
bool sample_filter_chooses(const struct sample_filter_options *options);

/**
 * sample_filter_keeps - whether a sample with names is written
 * @sample: its deltas are set anew, against what was kept before
 */
bool sample_filter_keeps(struct sample_filter *filter, struct sample *sample);

/** sample_filter_leave_out - count a sample as one that is not written because of an option */
void sample_filter_leave_out(struct sample_filter *filter, const struct sample *sample);

/** sample_filter_release - forget it */
void sample_filter_release(struct sample_filter *filter);

enum { HOOK_FILES = 2 }; /* memory, locks */

/* Zero it; hook_files_release() takes any state. */
struct hook_files {
	struct recording *at[HOOK_FILES];
	char *paths[HOOK_FILES]; /* as -o would give them */
};

/**
 * hook_files_main - the event of the file that is named as -o says
 * @events: COLLECT_*
 *
 * The clock's if one was requested, then memory's, then locks'.
 */
enum sample_event hook_files_main(uint32_t events);

/**
 * hook_files_clock - whether that event is of a clock: CPU or wall
 * @events: COLLECT_*
 *
 * Context: any thread.
 */
bool hook_files_clock(uint32_t events);

/**
 * hook_files_describe - what an event's file says of itself: its name, its rate and its metrics
 *
 * RECORDING has the mask and the rate that the user requested.
 */
void hook_files_describe(struct recording_options *recording, enum sample_event event,
			 const struct event_list *list);

/**
 * hook_files_path - "dir/x.perf" with a word before its ending; a name without one gets it after
 *
 * Return:  "dir/x.WORD.perf"; NULL when memory ran out.
 * Owns:    the caller, to free().
 * Context: any thread.
 */
char *hook_files_path(const char *path, const char *word);

/**
 * hook_files_open - make the files that go beside the main one
 * @like: the main file's options, before hook_files_describe()
 *
 * Names have ".alloc" or ".lock" before their ending.
 *
 * Return:  0; -errno and the reason.
 */
int hook_files_open(struct hook_files *files, const struct recording_options *like,
		    const struct event_list *list, struct err *err);

/**
 * hook_files_of - the file that an event's samples go to
 *
 * Return:  NULL: it has none of these, it is the main file's.
 * Owns:    FILES.
 */
struct recording *hook_files_of(const struct hook_files *files, enum sample_event event);

/**
 * hook_files_series - the series of the file with an index
 *
 * Context: any thread.
 */
enum sample_series hook_files_series(size_t index);

/**
 * hook_files_write - write a sample to the file of its event
 *
 * Return:  false: it has none of these, it is the main file's.
 */
bool hook_files_write(struct hook_files *files, const struct sample *sample);

/** hook_files_tick - recording_tick() for all of them */
void hook_files_tick(struct hook_files *files);

/** hook_files_due_ns - recording_due_ns() of the first */
uint64_t hook_files_due_ns(const struct hook_files *files);

/** hook_files_counts - recording_counts() for the file of a series, if there is one */
void hook_files_counts(struct hook_files *files, enum sample_series series,
		       const struct perf_script_count *counts, size_t n_counts);

/**
 * hook_files_stats - recording_stats() of those there are
 *
 * Return:  how many.
 */
size_t hook_files_stats(const struct hook_files *files, struct recording_stats to[HOOK_FILES]);

/** hook_files_finish - end them */
void hook_files_finish(struct hook_files *files);

/** hook_files_release - forget them */
void hook_files_release(struct hook_files *files);

struct live_block;

/* What it takes at most; a block of memory takes some 250 bytes, a stack 60 a frame, once. */
#define LIVE_HEAP_BYTES ((size_t)256 * 1024 * 1024)

/* Zero it but for the first; live_heap_release() takes any state. */
struct live_heap {
	size_t limit; /* LIVE_HEAP_BYTES; a test takes less */
	struct map processes;
	struct map stacks;
	struct live_block *first; /* in the order in which the memory was taken */
	struct live_block *last;
	size_t bytes; /* that all this takes */
	size_t n_ended;
	uint64_t n_blocks;
	uint64_t weight;
	uint64_t left_out; /* samples for which there was no room, or whose process had to go */
	bool changed;      /* since it was cleared */
};

/**
 * live_heap_sample - memory was taken or given back
 *
 * Memory that a process held when it ended is held for ever: it is what leaked.  When there is no
 * room it goes first.
 *
 * Owns:    the caller keeps the sample; names in its frames must outlive the heap.
 */
void live_heap_sample(struct live_heap *heap, const struct sample *sample);

/** live_heap_exit - a process image has ended */
void live_heap_exit(struct live_heap *heap, uint32_t process);

/** live_heap_each - call VISIT with a sample for everything that lives, oldest first */
void live_heap_each(const struct live_heap *heap,
		    void (*visit)(void *context, const struct sample *sample), void *context);

/** live_heap_release - forget everything */
void live_heap_release(struct live_heap *heap);

/* Zero it: then there is no such file, and every call does nothing. */
struct live_file {
	struct live_heap heap;
	struct snapshot *snapshot;
	char *path;      /* as -o would give it */
	uint64_t due_ns; /* not written before */
	uint64_t flush_ns;
};

/**
 * live_file_open - make it
 * @like: the main file's options
 *
 * The name is that of the main file with ".live" before its ending.
 *
 * Return:  0; -errno and the reason.
 * Owns:    live_file_release().
 */
int live_file_open(struct live_file *file, const struct recording_options *like,
		   const struct event_list *list, struct err *err);

/**
 * live_file_sample - follow a sample of memory; others are nothing to it
 * @kept: false: an option leaves it out; a release counts all the same
 */
void live_file_sample(struct live_file *file, const struct sample *sample, bool kept);

/**
 * live_file_tick - write it anew when it is due and something has changed
 *
 * Due is it a flush after the last time, or later: writing takes a twentieth of the time at most.
 */
void live_file_tick(struct live_file *file, struct collector *collector, uint64_t now_ns);

/**
 * live_file_due_ns - when live_file_tick() next has something to do
 *
 * Return:  ns; UINT64_MAX: nothing has changed.
 */
uint64_t live_file_due_ns(const struct live_file *file);

/** live_file_finish - write it for the last time */
void live_file_finish(struct live_file *file, struct collector *collector);

/** live_file_release - forget everything; the file stays */
void live_file_release(struct live_file *file);

#endif
