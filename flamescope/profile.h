/*
 * profile.h - a recording as columns: its samples, one tree of stacks, one copy of each string
 *
 * What every view reads.  A profile never changes once it is made, so any number of threads may
 * read it.  Samples are in the order of time (those of one moment in the order of the files).
 */
#ifndef FLAMESCOPE_PROFILE_H
#define FLAMESCOPE_PROFILE_H

#include "base/err.h"
#include "base/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PROFILE_MAX_TAGS = 48,                    /* wick's words, and the labels of programs */
	PROFILE_MAX_TAG_VALUES = 4 * 1024 * 1024, /* a request has a trace of its own */
	PROFILE_MAX_METRICS = 64,
	PROFILE_MAX_EVENTS = 255,
	PROFILE_BAD_LINES = 8, /* whose numbers are kept, of each file */
	PROFILE_CPU_UNKNOWN = 0xffff,
};

/* The code of a tag's values that there was no room for. */
#define PROFILE_TAG_OTHER UINT32_MAX

/* A metric's value where a sample has none. */
#define PROFILE_ABSENT INT64_MIN

/* A function as a stack shows it; two of the same name, module and inlined are one. */
struct profile_frame {
	uint32_t name;   /* number of a string, as all names here; "[unknown]" as it stands */
	uint32_t module; /* "" when inlined, or when the file has none (folded stacks) */
	bool inlined;
	uint64_t addr;   /* of the first that was seen; 0: none */
	uint64_t offset; /* of that one, after the function's start; 0: none */
};

/* Number 0 is the root, which has no frame; a parent's number is below its children's. */
struct profile_node {
	uint32_t parent;
	uint32_t frame;
};

/* Threads are distinguished by host, pid, tid and name. */
struct profile_thread {
	uint32_t comm;
	uint32_t host; /* "" when the file does not say */
	int32_t pid;   /* -1: not given */
	int32_t tid;
};

/* What "# s" says in words of a sample: state (st=), wait, on, op, task, trace and so on. */
struct profile_tag {
	uint32_t name; /* "state" for st=; else the word as written */
	uint32_t n_values;
	uint32_t *values; /* strings by code; code 0 is "", for samples that say nothing */
	uint32_t *codes;  /* one a sample */
};

struct profile_metric {
	uint32_t name;
	uint32_t unit; /* "" when not declared */
	enum metric_kind kind;
	int64_t *values; /* one a sample, PROFILE_ABSENT: has none */
	int64_t *deltas;
};

/* One of the files that the profile was made of. */
struct profile_file {
	char *path;     /* "-": standard input */
	uint64_t bytes; /* of text, after decompression */
	uint64_t samples;
	uint64_t bad_lines;              /* that are none of a recording's, and were passed over */
	uint64_t bad[PROFILE_BAD_LINES]; /* the numbers of the first ones */
	uint64_t lost;                   /* weight that the recorder says it lost ("# wick-end") */
	bool cut;                        /* a line or stack was longer than is kept */
	bool unended;                    /* the last sample may not be whole: still being written */
	char *problem; /* why (the rest of) it could not be read; NULL: nothing was wrong */
};

struct profile {
	size_t n_samples;
	uint64_t start_ns;       /* of the first sample, on the files' own clock */
	uint64_t length_ns;      /* from it to the last sample */
	int64_t epoch_offset_ns; /* own clock + this = time since 1970; files have to agree */
	bool has_epoch;
	bool is_wick;   /* every file has wick's header: weights are of one kind */
	bool has_times; /* false: folded stacks, all of them at one moment */
	uint32_t hz;    /* a weight of 1 is this part of a second; 0: not said */

	/* one a sample */
	uint64_t *times_ns; /* since start_ns */
	uint32_t *threads;
	uint32_t *stacks;  /* number of the innermost frame's node */
	uint64_t *weights; /* the period as written; 1 where there is none */
	uint16_t *cpus;
	uint8_t *events;

	size_t n_tags;
	struct profile_tag tags[PROFILE_MAX_TAGS];
	size_t n_metrics;
	struct profile_metric metrics[PROFILE_MAX_METRICS];
	size_t n_events;
	uint32_t event_names[PROFILE_MAX_EVENTS];
	size_t n_frames;
	struct profile_frame *frames;
	size_t n_nodes;
	struct profile_node *nodes;
	bool in_rows; /* NODES are as flame_sort_profile() has them, none twice */
	size_t n_threads;
	struct profile_thread *thread_list;
	size_t n_strings;
	const char **strings; /* UTF-8 as far as the file was; 0 is "" */
	uint32_t command;     /* "# cmdline"; "" unknown */
	uint32_t captured;    /* "# captured on" */
	size_t n_files;
	struct profile_file *files;
	struct profile_memory *memory; /* what the arrays are part of; see profile_memory.h */
};

/**
 * profile_free - free a profile
 *
 * Context: any thread; no other may be reading it.  NULL is fine.
 */
void profile_free(struct profile *profile);

/**
 * profile_say_empty - say why the only file of a profile has no sample
 *
 * Context: any thread.
 */
void profile_say_empty(const struct profile *profile, struct err *err);

#endif
