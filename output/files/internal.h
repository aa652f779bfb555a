/* internal.h - a recording's state, for the files of this room and its tests */
#ifndef FILES_INTERNAL_H
#define FILES_INTERNAL_H

#include "output/files/archive.h"
#include "output/files/backlog.h"
#include "output/files/file_name.h"
#include "output/files/recording.h"
#include "output/files/segment.h"

enum {
	RECORDING_MAX_COUNTS = 32,
	RECORDING_FIRST_SAMPLES = 16, /* so many go to disk one by one, for impatient readers */
};

/* A sample that came when the segment was full: it starts the next one, if a second follows. */
enum recording_held {
	HELD_NONE,
	HELD_IN_MEMORY,
	HELD_WRITTEN, /* in the old segment meanwhile, so that no crash loses it */
};

struct recording {
	struct recording_options options;
	struct perf_script_header header;
	const struct segment_disk *disk;
	struct file_name name;
	struct segment segment;
	struct backlog backlog;
	struct shelf *shelf;

	enum recording_held held_as;
	struct sample held;
	struct frame *held_frames;
	uint64_t len_before_held; /* of the segment, when HELD_WRITTEN */
	struct perf_script_file file_before_held;

	bool in_trouble;   /* the last write or open failed */
	uint64_t retry_ns; /* not before */
	uint64_t rotate_retry_ns;
	uint64_t told; /* a bit for each cause that was told */

	struct perf_script_count counts[RECORDING_MAX_COUNTS + 1]; /* and "dropped" */
	uint64_t counts_written[RECORDING_MAX_COUNTS + 1];
	size_t n_counts;

	unsigned n_first;             /* samples written one by one */
	struct recording_stats stats; /* of closed segments, and dropped */
	char **paths;
	size_t n_paths;
	bool finished;
};

/**
 * recording_tell - one line for the person
 *
 * Context: main thread.
 */
void recording_tell(struct recording *recording, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * recording_measure_clocks - what time it is, by the quickest of a few readings
 *
 * Context: any thread.
 */
void recording_measure_clocks(struct perf_script_header *header);

/**
 * recording_open_segment - make the next file, trying further names when one is taken
 *
 * Return:  0; -EEXIST for the first file of a name that was asked for; -errno.
 * Context: main thread.
 */
int recording_open_segment(struct recording *recording, struct err *err);

/**
 * recording_reopen - the same in the middle of a run: tells why it failed
 *
 * Return:  0; -errno, and it is tried again later.
 * Context: main thread.
 */
int recording_reopen(struct recording *recording);

/**
 * recording_flush - bring the backlog to disk, or tell why not
 *
 * Return:  0; -errno, and it is tried again later.
 * Context: main thread.
 */
int recording_flush(struct recording *recording);

/**
 * recording_release_held - the sample that waits for a second one goes into its old segment
 *
 * Context: main thread.
 */
void recording_release_held(struct recording *recording);

/**
 * recording_hold_again - put the held sample back before a line that stays in this segment
 *
 * Context: main thread.
 */
void recording_hold_again(struct recording *recording);

/**
 * recording_take_back_held - remove the held sample, which starts the next one, from the segment
 *
 * Return:  0; -EBUSY when something waits to be written behind it; -errno.
 * Context: main thread.
 */
int recording_take_back_held(struct recording *recording);

/**
 * recording_rotate - end the segment and begin the next
 *
 * Return:  0; -errno, and the old segment goes on.
 * Context: main thread.
 */
int recording_rotate(struct recording *recording);

/**
 * recording_close_segment - drop what the disk does not take, write the end line, close
 *
 * Context: main thread.
 */
void recording_close_segment(struct recording *recording);

#endif
