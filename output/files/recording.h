/*
 * recording.h - the files of one run: flush, rotation, compression, hooks, what is kept
 *
 * Context: main thread, unless a function says another.
 */
#ifndef FILES_RECORDING_H
#define FILES_RECORDING_H

#include "base/err.h"
#include "output/text/perf_script.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recording;

enum recording_compress { COMPRESS_NONE, COMPRESS_GZ, COMPRESS_ZST };

/* One limit; at most one member is not 0. */
struct recording_limit {
	uint64_t bytes;
	uint64_t ns;
	uint64_t samples; /* for --keep: segments */
};

struct recording_options {
	struct perf_script_options text;
	struct perf_script_header header; /* captured_ns and epoch_offset_ns are measured anew */
	const char *path;                 /* as -o gave it; NULL: "wick.%c.%p.%t.perf" */
	bool replace;                     /* files that have a name of ours go */
	const char *comm;                 /* %c */
	uint64_t flush_ns;                /* --flush */
	struct recording_limit rotate;    /* all 0: one file */
	struct recording_limit keep;      /* all 0: everything */
	bool on_demand; /* no file but between recording_begin() and recording_end(), all numbered
			 */
	enum recording_compress compress;
	const char *on_rotate; /* sh -c CMD wick PATH; NULL: none */
	uint64_t hook_wait_ns; /* how long recording_finish() waits for hooks; 0: 30 s */
	void (*report)(void *context, const char *message); /* one line for the user, no newline */
	void *report_context;
	/* Before a file makes room for the next one: may add notes.  NULL: nothing */
	void (*ending)(void *context);
	void *ending_context;
};

struct recording_stats {
	uint64_t samples;
	uint64_t weight;
	uint64_t late;
	uint64_t dropped;       /* samples that no disk took */
	uint64_t dropped_lines; /* notes that are in no file */
	uint64_t bytes;         /* of text written */
	uint64_t segments;
	uint64_t single_segments; /* hold one sample: FlameScope draws no flame graph of them */
	uint64_t hook_failures;   /* runs of the hook that failed */
	uint64_t hook_given_up;   /* segments whose hook never succeeded */
	const char *const *paths; /* of the segments still there, oldest first, final names */
	size_t n_paths;
};

/**
 * recording_new - check the options, make the first file, start the background thread
 *
 * Return:  0; -EEXIST: the name is taken, and not to be replaced; -errno of open.
 * Owns:    the caller, to recording_free().  The strings of OPTIONS must outlive it.
 */
int recording_new(const struct recording_options *options, struct recording **ret_recording,
		  struct err *err);

/**
 * recording_write - add a sample; rotates first when a limit is reached
 *
 * The first samples go to disk at once, later ones at the next flush.  A disk that takes
 * nothing is reported once through options.report, the samples are counted as dropped, and writing
 * resumes when it can.
 */
void recording_write(struct recording *recording, const struct sample *sample);

/**
 * recording_note - write a comment line between two samples: `# WORD : JSON`
 * @json: one object, on one line
 *
 * Many at once go to disk as samples do, and what no disk takes is counted.  Nothing is done for a
 * file without comments, or with on_demand while there is no file.
 */
void recording_note(struct recording *recording, const char *word, const char *json);

/** recording_left_out - N notes that there was no room for were not made: the end line says it */
void recording_left_out(struct recording *recording, uint64_t n);

/**
 * recording_begin - with on_demand: make the next file
 * @number: the least number that it may have
 *
 * A name that is taken is passed over.
 *
 * Return:  the number that it has; -EBUSY: one is open; -errno and the reason.
 */
int recording_begin(struct recording *recording, unsigned number, struct err *err);

/**
 * recording_end - with on_demand: write what is left to the file, and end it
 * @before: the counts as they were when what it holds began; those that are not there were 0
 *
 * Return:  0, and the path that it has once recording_settled(); -EIO: samples were dropped, or
 *          there is no file.
 * Owns:    RET_PATH is the caller's, to free(); NULL when memory ran out.
 */
int recording_end(struct recording *recording, const struct perf_script_count *before,
		  size_t n_before, char **ret_path);

/**
 * recording_split - end the file and begin the next, whatever the limits are
 * @hz: the rate that the next one's head says; 0: as before
 *
 * A file that has no sample yet goes on, with another head if it is not on disk.
 *
 * Return:  0; -errno: there is no other file, and this one goes on as it is.
 */
int recording_split(struct recording *recording, uint32_t hz);

/**
 * recording_settled - whether every file that has ended has its last name: none waits to be
 *                     compressed
 */
bool recording_settled(struct recording *recording);

/**
 * recording_write_out - have all that was written on disk, now
 *
 * Return:  0; -errno: some of it is not.
 */
int recording_write_out(struct recording *recording);

/** recording_tick - flush and rotate by the clock, and report what failed in the background */
void recording_tick(struct recording *recording);

/**
 * recording_due_ns - when recording_tick() next has something to do by the clock
 *
 * Return:  ns; UINT64_MAX: nothing waits for its time.
 */
uint64_t recording_due_ns(const struct recording *recording);

/**
 * recording_counts - what the next "# wick-end" line says beside samples and weight
 *
 * The numbers are totals of the run; the recording writes what was added since the last one.
 */
void recording_counts(struct recording *recording, const struct perf_script_count *counts,
		      size_t n_counts);

/**
 * recording_finish - end the last segment, and wait for compression and hooks
 *
 * Return:  0; -EIO when something was dropped or a hook never succeeded.
 */
int recording_finish(struct recording *recording);

/**
 * recording_stats - the counters so far
 *
 * Owns:    the recording; good until the next call on it.
 */
void recording_stats(struct recording *recording, struct recording_stats *ret_stats);

/**
 * recording_ending - what a compressed file's name has after it
 *
 * Return:  ".gz", ".zst"; "" for COMPRESS_NONE.
 * Owns:    static.
 * Context: any thread.
 */
const char *recording_ending(enum recording_compress how);

/**
 * recording_free - give everything back; an unfinished segment stays as it is on disk
 *
 * Context: main thread.  NULL is fine.
 */
void recording_free(struct recording *recording);

/* snapshot: a file that is written anew as a whole, again and again: what is there now */

struct snapshot;

/**
 * snapshot_new - make the file, with no sample in it yet
 * @options: text, header, path, comm and report count; an empty path has no default
 *
 * Return:  0; -EEXIST: the name, or the one with ".new" after it, is taken; -errno of open.
 * Owns:    the caller, to snapshot_free().  The strings of OPTIONS must outlive it.
 */
int snapshot_new(const struct recording_options *options, struct snapshot **ret_snapshot,
		 struct err *err);

/**
 * snapshot_begin - begin the next state of the file, beside it
 *
 * Return:  0; -errno, and snapshot_add() does nothing.
 */
int snapshot_begin(struct snapshot *snapshot);

/** snapshot_add - add a sample to the next state */
void snapshot_add(struct snapshot *snapshot, const struct sample *sample);

/**
 * snapshot_end - put the next state in place of the last one, atomically
 *
 * A reader has the one or the other, whole.  What the disk does not take is reported once through
 * options.report, and the last state stays.
 *
 * Return:  0; -errno.
 */
int snapshot_end(struct snapshot *snapshot, const struct perf_script_count *counts,
		 size_t n_counts);

/**
 * snapshot_path - where the file is
 *
 * Owns:    the snapshot.
 */
const char *snapshot_path(const struct snapshot *snapshot);

/**
 * snapshot_free - free it; the file stays in its last state
 *
 * Context: main thread.  NULL is fine.
 */
void snapshot_free(struct snapshot *snapshot);

#endif
