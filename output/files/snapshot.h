/* snapshot.h - a file that is written anew as a whole, again and again: what is there now */
#ifndef FILES_SNAPSHOT_H
#define FILES_SNAPSHOT_H

#include "output/files/recording.h"

struct snapshot;

/**
 * snapshot_new - make the file, with no sample in it yet
 * @options: text, header, path, comm and tell count; an empty path has no default
 *
 * Return:  0; -EEXIST: the name, or the one with ".new" behind it, is taken; -errno of open.
 * Owns:    the caller, to snapshot_free().  The strings of OPTIONS must outlive it.
 * Context: main thread, as for all of these.
 */
int snapshot_new(const struct recording_options *options, struct snapshot **ret_snapshot,
		 struct err *err);

/**
 * snapshot_begin - begin the next state of the file, beside it
 *
 * Return:  0; -errno, and snapshot_add() does nothing.
 * Context: main thread.
 */
int snapshot_begin(struct snapshot *snapshot);

/**
 * snapshot_add - add a sample to the next state
 *
 * Context: main thread.
 */
void snapshot_add(struct snapshot *snapshot, const struct sample *sample);

/**
 * snapshot_end - put the next state in place of the last one, at one stroke
 *
 * A reader has the one or the other, whole.  What the disk does not take is told once through
 * options.tell, and the last state stays.
 *
 * Return:  0; -errno.
 * Context: main thread.
 */
int snapshot_end(struct snapshot *snapshot, const struct perf_script_count *counts,
		 size_t n_counts);

/**
 * snapshot_path - where the file is
 *
 * Owns:    the snapshot.
 * Context: main thread.
 */
const char *snapshot_path(const struct snapshot *snapshot);

/**
 * snapshot_free - forget it; the file stays in its last state
 *
 * Context: main thread.  NULL is fine.
 */
void snapshot_free(struct snapshot *snapshot);

#endif
