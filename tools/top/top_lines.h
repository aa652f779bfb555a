/* top_lines.h - the lines of `wick top`, the same on a screen and in text */
#ifndef TOP_TOP_LINES_H
#define TOP_TOP_LINES_H

#include "base/buf.h"
#include "tools/top/top_keys.h"
#include "tools/top/top_view.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What is known of the program beside the model. */
struct top_facts {
	const char *command;
	pid_t pid;
	uint32_t hz;
	uint32_t effective_hz; /* lower for a budget */
	bool paused;           /* wick cannot keep up */
	bool wall;             /* all of a thread's time is counted, not only its CPU */
	uint64_t threads;
	uint64_t processes;
	uint64_t lost;      /* weight, by all causes */
	const char *output; /* where what CMD writes goes; NULL: where it always did */
	bool ended;
	const char *ending; /* "exited with status 1"; NULL: of samples, not of the program */
};

enum { TOP_HEAD_LINES = 2, TOP_HELP_LINES = 15 };

/**
 * top_lines_head - two lines: who, and what was counted
 *
 * No line is longer than COLUMNS characters, as in all of these.
 *
 * Context: main thread, as for all of these.
 */
void top_lines_head(struct buf *buf, const struct top_facts *facts, const struct top_view *view,
		    const struct top_keys *keys, uint32_t columns);

/**
 * top_lines_titles - the line above the table; the column that it is sorted by has a *
 *
 * Context: main thread.
 */
void top_lines_titles(struct buf *buf, const struct top_keys *keys, uint32_t columns);

/**
 * top_lines_row - the INDEXth row that is shown, of functions or threads
 *
 * Context: main thread.
 */
void top_lines_row(struct buf *buf, const struct top_view *view, const struct top_keys *keys,
		   size_t index, uint32_t columns);

/**
 * top_lines_foot - the last line: keys, a question, or what is typed
 *
 * Context: main thread.
 */
void top_lines_foot(struct buf *buf, const struct top_facts *facts, const struct top_keys *keys,
		    uint32_t columns);

/**
 * top_lines_help - what every key does, TOP_HELP_LINES lines
 *
 * Context: main thread.
 */
void top_lines_help(struct buf *buf, uint32_t columns);

#endif
