/*
 * frame_namer.h - gives frames that were written as module+offset their names
 *
 * In two passes over a recording: first every such frame is requested, then all are looked up
 * together, then they are written.
 *
 * Context: main thread, unless a function says another.
 */
#ifndef SYMBOLS_FRAME_NAMER_H
#define SYMBOLS_FRAME_NAMER_H

#include "base/buf.h"
#include "base/err.h"
#include "base/sample.h"
#include "flamescope/text/text.h"
#include "tools/options/options.h"

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
 * Owns:    the caller, to frame_namer_free(); OPTIONS outlives it.
 */
int frame_namer_new(const struct symbol_options *options, struct frame_namer **ret_namer,
		    struct err *err);

/**
 * frame_namer_build_id - which build of a module ran
 *
 * Context: main thread.  Before frame_namer_look_up().
 */
void frame_namer_build_id(struct frame_namer *namer, const char *path, const char *build_id);

/**
 * frame_namer_ask - the first pass: a frame that may want a name
 * @leaf: the first frame of its sample: it was interrupted there
 */
void frame_namer_ask(struct frame_namer *namer, const struct perf_frame *frame, bool leaf);

/** frame_namer_look_up - between the passes: find the modules, look up all that was requested */
void frame_namer_look_up(struct frame_namer *namer);

/**
 * frame_namer_find - the second pass: what a frame that lacks a name stands for
 *
 * Return:  how many frames, innermost first, the last the function itself; 0: the line is fine,
 *          or the best there is.
 * Owns:    the namer; good until the next call.
 */
size_t frame_namer_find(struct frame_namer *namer, const struct perf_frame *frame, bool leaf,
			const struct frame **ret_frames);

/**
 * frame_namer_modules - the modules that were requested names
 *
 * Return:  how many.
 * Owns:    the namer; good until the next call.
 */
size_t frame_namer_modules(struct frame_namer *namer, const struct symbolize_module **ret_modules);

/** frame_namer_servers - what came of asking servers */
void frame_namer_servers(struct frame_namer *namer, struct symbolize_servers *ret_servers);

/**
 * frame_namer_stats - what was done so far
 *
 * Owns:    the namer; good until frame_namer_free().
 */
void frame_namer_stats(const struct frame_namer *namer, struct frame_namer_stats *ret_stats);

/**
 * frame_namer_free - forget everything
 *
 * Context: main thread.  NULL is fine.
 */
void frame_namer_free(struct frame_namer *namer);

#endif
