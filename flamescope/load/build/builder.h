/*
 * builder.h - what one reader of text has seen so far, as columns
 *
 * One for each thread that reads; merge_profile() makes a profile of them.  Where a thing was first
 * seen decides between two readers, so that the profile does not depend on which reader read what.
 *
 * Context: any thread, unless a function says another.
 */
#ifndef BUILD_BUILDER_H
#define BUILD_BUILDER_H

#include "flamescope/load/build/uniques.h"
#include "flamescope/text/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A place in the text of all files, and which of the words there. */
struct place {
	uint64_t at;
	uint32_t word;
};

/* What the samples of one column are; shorter than the samples: the others have EMPTY. */
struct column {
	void *values;
	size_t n, max;
	uint32_t size;
	uint64_t empty;
};

struct builder_tag {
	uint32_t name;
	struct place first;
	struct number_table table; /* codes by the string's number */
	uint32_t *values;          /* strings by code; 0 is "" */
	size_t n_values, max_values;
	struct column codes;
};

struct builder_metric {
	uint32_t name;
	uint32_t unit;
	enum metric_kind kind;
	struct place first;    /* whether in the header or in a sample */
	struct place declared; /* at UINT64_MAX: not */
	bool inlined;          /* stands on header lines */
	struct column values;
	struct column deltas;
};

/* Texts that the header of a file says, each with the place where it first does. */
enum builder_word { WORD_HOST, WORD_COMMAND, WORD_CAPTURED, N_BUILDER_WORDS };

struct builder_facts {
	uint64_t at[N_BUILDER_WORDS];   /* UINT64_MAX: not said */
	uint32_t text[N_BUILDER_WORDS]; /* strings */
	uint64_t wick_at;               /* UINT64_MAX: no header of wick's */
	uint64_t hz;
	uint64_t epoch_offset_ns;
	bool has_epoch;
	uint64_t lost;
	uint64_t bad_lines;
	bool cut;
	bool inlined; /* its metrics stand on the header lines */
};

/* Samples that stand next to each other in the text. */
struct segment {
	uint64_t at;
	size_t first;
	size_t n;
	uint64_t hz; /* as said where it begins; 0: not said there, as before it */
};

struct builder {
	struct uniques uniques;
	uint32_t file;              /* number of the one that is being read */
	struct builder_facts facts; /* of that one */
	size_t n_samples, max_samples;
	uint64_t *times; /* of the file's own clock */
	uint32_t *threads;
	uint32_t *stacks;
	uint64_t *weights;
	uint16_t *cpus;
	uint8_t *events;
	size_t n_tags;
	struct builder_tag tags[PROFILE_MAX_TAGS];
	size_t n_metrics;
	struct builder_metric metrics[PROFILE_MAX_METRICS];
	size_t n_events;
	uint32_t event_names[PROFILE_MAX_EVENTS];
	struct segment *segments;
	size_t n_segments, max_segments;
	bool overflow; /* more tags, values, metrics or events than there is room for */
};

struct builder_sample {
	const struct perf_head *head;
	const struct perf_facts *facts;
	uint32_t stack;
	uint64_t at;
};

/**
 * builder_new - an empty one
 *
 * Return:  the builder; NULL when memory ran out.
 * Owns:    the caller, to builder_free(); BUDGET has to outlive it.
 * Context: any thread; one user at a time, as for all of these.
 */
struct builder *builder_new(struct budget *budget);

/**
 * builder_free - free all
 *
 * Context: any thread.  NULL is fine.
 */
void builder_free(struct builder *builder);

/** builder_start_file - what comes now is of file FILE */
void builder_start_file(struct builder *builder, uint32_t file);

/** builder_start_segment - what comes now stands at AT of the text */
void builder_start_segment(struct builder *builder, uint64_t at);

/** builder_add - a sample */
void builder_add(struct builder *builder, const struct builder_sample *sample);

/** builder_frame - the number of a frame of the text */
uint32_t builder_frame(struct builder *builder, const struct perf_frame *frame, uint64_t at);

/** builder_stack - the number of the stack of N frames, innermost first, above PARENT */
uint32_t builder_stack(struct builder *builder, uint32_t parent, const uint32_t *frames, size_t n);

/** builder_header - what "# wick : JSON" says */
void builder_header(struct builder *builder, const char *json, uint64_t at);

/** builder_rate - weights of what comes now, at AT of the text, are in periods of HZ */
void builder_rate(struct builder *builder, uint64_t hz, uint64_t at);

/** builder_rate_line - what "# rate : JSON" says */
void builder_rate_line(struct builder *builder, const char *json, uint64_t at);

/** builder_end - what "# wick-end : JSON" says */
void builder_end(struct builder *builder, const char *json);

/** builder_comment - what another comment says, if anything */
void builder_comment(struct builder *builder, const char *text, uint64_t at);

/**
 * builder_metric - the column of a metric
 *
 * Return:  it; NULL when there is no room.
 * Owns:    the builder.
 */
struct builder_metric *builder_metric(struct builder *builder, const char *name, size_t len,
				      struct place place);

/**
 * builder_tag - the number of the tag called NAME
 *
 * Return:  it; PROFILE_MAX_TAGS when there is no room.
 */
size_t builder_tag(struct builder *builder, const char *name, struct place place);

/** builder_tag_code - the code of a value of a tag */
uint32_t builder_tag_code(struct builder *builder, struct builder_tag *tag, const char *value);

/** builder_event - the number of an event */
uint8_t builder_event(struct builder *builder, const char *name);

/** column_put - set the value of sample INDEX, which comes after all that were set before */
void column_put(struct column *column, struct budget *budget, size_t index, uint64_t value);

/* What is known of a file when it has been read; the profile's own files are made of them. */
struct merge_file {
	struct profile_file file;
	struct builder_facts facts; /* of all builders; texts are strings of the first one */
	uint64_t end_at;            /* of its text */
	bool folded;
};

/**
 * merge_facts - put together what all builders read of a file's header
 *
 * Context: any thread; no other may use the builders, as for all of these.
 */
void merge_facts(struct builder *const *builders, size_t n, struct builder_facts *ret_facts);

/**
 * merge_profile - make the profile
 * @builders: are used up; free them
 * @files:    whose paths and problems become the profile's
 *
 * Return:  0; -ENOMEM, -E2BIG.
 * Owns:    the caller, to profile_free().
 * Context: any thread.
 */
int merge_profile(struct builder *const *builders, size_t n, struct merge_file *files,
		  size_t n_files, struct profile **ret_profile);

#endif
