/*
 * blocks.h - perf-script text to a builder, a sample with the empty line behind it at a time
 *
 * What is between two empty lines can be read by itself (see perf_text_line()).  Most of it has
 * been seen before: the frames of a block are looked up by the hash of their text, and only new
 * ones are parsed.  A block in which anything is unusual goes through perf_text line by line, so
 * that both ways give the same.
 */
#ifndef LOAD_BLOCKS_H
#define LOAD_BLOCKS_H

#include "flamescope/load/build/builder.h"
#include "flamescope/load/text/perf_text.h"

enum { BLOCKS_MAX_BYTES = 1024 * 1024 }; /* longer blocks take the slow way */

struct blocks_bad {
	uint64_t at; /* of the text that the line is counted from */
	uint64_t line;
};

struct blocks {
	struct builder *builder;
	struct perf_text *text;
	bool slow;                  /* take the slow way for all */
	uint32_t folded;            /* lines are folded stacks, of counts times this; 0: not */
	bool inside;                /* the last bytes were of a block that goes on */
	bool skip;                  /* and of a line of which enough has been kept */
	struct number_table lines;  /* frames by the text of their lines */
	struct number_table stacks; /* nodes by the text of many lines */
	struct buf head, facts, line;
	uint64_t at;      /* of the line that is read */
	uint64_t base_at; /* that lines are counted from */
	uint64_t number;  /* of that line */
	size_t n_bad;
	struct blocks_bad bad[PROFILE_BAD_LINES];
	bool unended;      /* the last sample had no empty line */
	bool stray_frames; /* there were frames of no sample */
};

/**
 * blocks_init - a reader for BUILDER
 *
 * Return:  0; -ENOMEM, and it need not be released.
 * Owns:    the caller, to blocks_release(); it must not be moved.
 * Context: any thread; one user at a time, as for all of these.
 */
int blocks_init(struct blocks *blocks, struct builder *builder);

/**
 * blocks_release - forget all but the builder
 *
 * Context: any thread.
 */
void blocks_release(struct blocks *blocks);

/**
 * blocks_start_file - what comes now is of file FILE
 * @folded: folded_scale() of it
 *
 * Context: any thread.
 */
void blocks_start_file(struct blocks *blocks, uint32_t file, uint32_t folded);

/**
 * blocks_start - begin with line 1 of a text that stands at AT
 *
 * Context: any thread.
 */
void blocks_start(struct blocks *blocks, uint64_t at);

/**
 * blocks_take - read [TEXT, TEXT + LEN), which stands at AT and ends behind an empty line
 *
 * Context: any thread.
 */
void blocks_take(struct blocks *blocks, const char *text, size_t len, uint64_t at);

/**
 * blocks_take_part - read bytes that end anywhere; the next ones must follow them
 *
 * Context: any thread.
 */
void blocks_take_part(struct blocks *blocks, const char *text, size_t len, uint64_t at);

/**
 * blocks_finish - the file ends here; what was begun counts as far as it goes
 *
 * Context: any thread.
 */
void blocks_finish(struct blocks *blocks);

#endif
