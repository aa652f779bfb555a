/* perf_text.h - a streaming reader of perf-script text: wick's dialect and perf's own */
#ifndef TEXT_PERF_TEXT_H
#define TEXT_PERF_TEXT_H

#include "base/buf.h"
#include "base/err.h"
#include "flamescope/load/text/lines.h"
#include "flamescope/load/text/perf_line.h"

#include <stddef.h>
#include <stdint.h>

enum {
	PERF_TEXT_MAX_FRAMES = 1024,              /* of a sample; deeper ones keep the leaf side */
	PERF_TEXT_SAMPLE_BYTES = 4 * 1024 * 1024, /* of the text of a sample */
	PERF_TEXT_BAD_LINES = 8,                  /* whose numbers are kept */
};

/* Views are good until the callback returns. */
struct perf_text_sample {
	uint64_t line; /* of its header line */
	struct perf_head head;
	struct perf_facts facts;
	size_t n_frames; /* innermost first */
	const struct perf_frame *frames;
	int cut; /* it had more frames, or a longer line, than are kept */
};

/* Any of them may be NULL. */
struct perf_text_visitor {
	void (*comment)(void *context, const char *text); /* a "#" line that is none of below */
	void (*header)(void *context, const char *json);  /* of "# wick : {...}" */
	void (*rate)(void *context, const char *json);    /* of "# rate : {...}" */
	void (*sample)(void *context, const struct perf_text_sample *sample);
	void (*end)(void *context, const char *json); /* of "# wick-end : {...}" */
	void (*bad)(void *context, uint64_t line);    /* a line that was passed over */
	void *context;
};

struct perf_text_stats {
	uint64_t lines;
	uint64_t samples;
	uint64_t bad_lines;                /* that were none of the above, and were passed over */
	uint64_t bad[PERF_TEXT_BAD_LINES]; /* the numbers of the first ones */
	int stray_frames;                  /* one of these was a frame of no sample */
	int unended; /* the last sample has no empty line: it was being written */
};

struct perf_text;

/**
 * perf_text_new - a reader that is fed with lines
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller, to perf_text_free(); VISITOR is copied.
 * Context: any thread; one user at a time, as for all of these.
 */
int perf_text_new(const struct perf_text_visitor *visitor, struct perf_text **ret_text);

/**
 * perf_text_line - take in the next line; calls the visitor when a sample is whole
 *
 * What one line means never reaches past an empty line, so that the text between two of them can
 * be read by itself.  A carriage return at the end of a line is no part of it.
 *
 * Context: any thread.
 */
void perf_text_line(struct perf_text *text, const struct line *line);

/**
 * perf_text_finish - the end of the file: gives the last sample, if it is not whole either
 *
 * What comes then is of another file, and so are its statistics.
 *
 * Context: any thread.
 */
void perf_text_finish(struct perf_text *text, struct perf_text_stats *ret_stats);

/**
 * perf_text_no_times - say why a file with stacks has no sample, and what to do
 *
 * Frames without a line that names a thread and a time are what perf script -F ip,sym prints.
 *
 * Context: any thread.
 */
void perf_text_no_times(struct err *err);

/**
 * perf_text_free - forget everything
 *
 * Context: any thread.  NULL is fine.
 */
void perf_text_free(struct perf_text *text);

/**
 * perf_text_read - all of the above for a file
 *
 * Return:  0; -errno of open; -EIO when it is damaged: what came before has been visited.
 * Context: any thread.
 */
int perf_text_read(const char *path, const struct perf_text_visitor *visitor,
		   struct perf_text_stats *ret_stats, struct err *err);

#endif
