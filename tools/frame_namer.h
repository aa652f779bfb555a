/* frame_namer.h - gives frames that were written as module+offset their names */
#ifndef TOOLS_FRAME_NAMER_H
#define TOOLS_FRAME_NAMER_H

#include "base/buf.h"
#include "base/err.h"
#include "flamescope/load/perf_line.h"

#include <stdbool.h>
#include <stdint.h>

struct frame_namer;

struct frame_namer_stats {
	uint64_t waiting;         /* frames that were module+offset */
	uint64_t named;           /* of those, how many have a name now */
	uint64_t missing;         /* modules whose file could not be read */
	const char *missing_path; /* one of them, and why */
	const char *missing_why;
};

/**
 * frame_namer_new - nothing known yet
 *
 * Return:  0; -errno and the reason.
 * Owns:    the caller, to frame_namer_free().
 * Context: main thread, as for all of these.
 */
int frame_namer_new(struct frame_namer **ret_namer, struct err *err);

/**
 * frame_namer_try - write the line of a frame anew, if it lacks a name that can be found
 * @leaf: the first frame of its sample: it was interrupted there
 *
 * Return:  true: BUF has the whole line; false: the line is fine, or the best there is.
 * Context: main thread.
 */
bool frame_namer_try(struct frame_namer *namer, const struct perf_frame *frame, bool leaf,
		     struct buf *buf);

/**
 * frame_namer_stats - what was done so far
 *
 * Owns:    the namer; good until frame_namer_free().
 * Context: main thread.
 */
void frame_namer_stats(const struct frame_namer *namer, struct frame_namer_stats *ret_stats);

/**
 * frame_namer_free - forget everything
 *
 * Context: main thread.  NULL is fine.
 */
void frame_namer_free(struct frame_namer *namer);

#endif
