/*
 * import.h - profiles of other programs, as a whole in memory: pprof, speedscope, Firefox
 *
 * Names of events say what a sample's weight is (see period_of_kind()): "time" in nanoseconds,
 * "bytes", "samples"; after a colon comes what the file calls it: "bytes:inuse_space".
 *
 * Context: any thread, unless a function says another.
 */
#ifndef IMPORT_IMPORT_H
#define IMPORT_IMPORT_H

#include "base/err.h"
#include "flamescope/load/build/builder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum import_kind { IMPORT_NONE, IMPORT_PPROF, IMPORT_JSON };

/** import_kind_of - what a file is that begins so; IMPORT_NONE: text, or nothing known */
enum import_kind import_kind_of(const char *bytes, size_t len);

struct import {
	struct builder *builder;
	const char *bytes; /* a NUL comes after them */
	size_t len;
	uint64_t at;    /* of the first byte, of all files */
	bool has_times; /* set by the reader: samples have times */
	/* Called now and then with LEN; false: give up.  May be NULL. */
	bool (*done)(void *context, uint64_t bytes);
	void *context;
	uint64_t n_steps; /* the readers' own */
	bool stopped;
};

/**
 * import_read - read a whole file into the builder
 *
 * Return:  0; -EINVAL and what is wrong with it, -ETIMEDOUT: DONE said so (what came before has
 *          been read).  A refusal of the builder's budget is in the budget.
 * Owns:    the caller, as for all of these.
 */
int import_read(struct import *import, enum import_kind kind, struct err *err);

/* What readers of formats share. */

enum import_unit { IMPORT_SAMPLES, IMPORT_TIME, IMPORT_BYTES };

/* A value times MULTIPLY is in UNIT: nanoseconds, bytes or a count. */
struct import_scale {
	enum import_unit unit;
	int64_t multiply;
};

/** import_scale_of - by a unit's name: "nanoseconds", "ms", "tracing-ms", "kilobytes" */
struct import_scale import_scale_of(const char *unit);

/** import_scaled - a value in its unit; what is negative is 0, and what does not fit the most */
uint64_t import_scaled(const struct import_scale *scale, int64_t value);

/* Zero it, then name, tid, pid (-1: not known), event; facts may have words. */
struct import_sample {
	struct perf_head head;
	struct perf_facts *facts;
	uint32_t stack;
};

/** import_goes_on - whether to read on; to be asked for every element, of which DONE is told some
 */
bool import_goes_on(struct import *import);

/** import_find - json_find() in what may be large: DONE is told; NULL also when it says to stop */
const char *import_find(struct import *import, const char *object, const char *name);

/** import_add - add a sample */
void import_add(struct import *import, const struct import_sample *sample);

/** import_frame - the number of a function; one without a name is "[unknown]" */
uint32_t import_frame(struct import *import, const char *name, const char *module);

/** import_put - append to a growing array within the budget: whether there was room, and to go on
 */
bool import_put(struct import *import, uint32_t **array, size_t *n, size_t *max, uint32_t value);

/** import_pprof - a profile.proto: as import_read() */
int import_pprof(struct import *import, struct err *err);

/** import_speedscope - a file of speedscope: as import_read() */
int import_speedscope(struct import *import, struct err *err);

/** import_firefox - a processed profile of the Firefox Profiler: as import_read() */
int import_firefox(struct import *import, struct err *err);

#endif
