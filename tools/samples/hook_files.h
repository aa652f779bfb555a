/* hook_files.h - the files of what hooks saw, beside the one of the clock */
#ifndef SAMPLES_HOOK_FILES_H
#define SAMPLES_HOOK_FILES_H

#include "base/err.h"
#include "output/files/recording.h"
#include "tools/options/event_list.h"

#include <stdbool.h>
#include <stdint.h>

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
 * The clock's if one was asked for, then memory's, then locks'.
 *
 * Context: main thread, as for all of these.
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
 * RECORDING has the mask and the rate that the user asked for.
 *
 * Context: main thread.
 */
void hook_files_describe(struct recording_options *recording, enum sample_event event,
			 const struct event_list *list);

/**
 * hook_files_path - "dir/x.perf" with a word before its ending; a name without one gets it behind
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
 * Context: main thread.
 */
int hook_files_open(struct hook_files *files, const struct recording_options *like,
		    const struct event_list *list, struct err *err);

/**
 * hook_files_of - the file that an event's samples go to
 *
 * Return:  NULL: it has none of these, it is the main file's.
 * Owns:    FILES.
 * Context: main thread.
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
 * Context: main thread.
 */
bool hook_files_write(struct hook_files *files, const struct sample *sample);

/**
 * hook_files_tick - recording_tick() for all of them
 *
 * Context: main thread.
 */
void hook_files_tick(struct hook_files *files);

/**
 * hook_files_due_ns - recording_due_ns() of the first
 *
 * Context: main thread.
 */
uint64_t hook_files_due_ns(const struct hook_files *files);

/**
 * hook_files_counts - recording_counts() for the file of a series, if there is one
 *
 * Context: main thread.
 */
void hook_files_counts(struct hook_files *files, enum sample_series series,
		       const struct perf_script_count *counts, size_t n_counts);

/**
 * hook_files_stats - recording_stats() of those there are
 *
 * Return:  how many.
 * Context: main thread.
 */
size_t hook_files_stats(const struct hook_files *files, struct recording_stats to[HOOK_FILES]);

/**
 * hook_files_finish - end them
 *
 * Context: main thread.
 */
void hook_files_finish(struct hook_files *files);

/**
 * hook_files_release - forget them
 *
 * Context: main thread.
 */
void hook_files_release(struct hook_files *files);

#endif
