/*
 * metrics.h - what a sample can say that its thread and its process have used
 *
 * The catalogue has every metric with what reading it costs and how far it may be off; columns of
 * struct event_sample are indices into it, and the gauges of the recording follow.  Only what was
 * requested is read: from descriptors that are kept open, and at most every METRICS_FRESH_MS.
 *
 * Context: any thread.
 */
#ifndef METRICS_METRICS_H
#define METRICS_METRICS_H

#include "base/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Columns; the order is that of the catalogue and of the file. */
enum metric_id {
	METRIC_CPU_NS,
	METRIC_MINFLT,
	METRIC_MAJFLT,
	METRIC_VCSW,
	METRIC_IVCSW,
	METRIC_STACK_BYTES,
	METRIC_RSS_KIB,
	METRIC_RSS_ANON_KIB,
	METRIC_RSS_FILE_KIB,
	METRIC_SWAP_KIB,
	METRIC_RUN_DELAY_NS,
	METRIC_IO_READ_BYTES,
	METRIC_IO_WRITE_BYTES,
	METRIC_FD_COUNT,
	METRIC_THREADS,
	METRIC_SOCK_IN_BYTES,
	METRIC_SOCK_OUT_BYTES,
	METRIC_ARENA_BYTES,
	METRIC_ARENA_FREE_BYTES,
	METRIC_ALLOC_BYTES,
	METRIC_FREE_BYTES,
	METRIC_HEAP_LIVE_BYTES,
	METRIC_BUILTIN, /* how many there are; gauges have the columns from here on */
};

enum {
	METRIC_MAX_GAUGES = SAMPLE_MAX_METRICS - METRIC_BUILTIN,
	METRIC_RECORD = METRIC_STACK_BYTES + 1, /* the first so many come with the record */
	METRIC_NAME_SIZE = 24,                  /* of a gauge, NUL included */
	METRIC_AUTO_NS = 1000,                  /* what `auto` takes costs less */
};

/* Bits of those that the program's hooks of malloc tell, of the process. */
#define METRICS_OF_ARENAS                                                                          \
	(UINT32_C(1) << METRIC_ARENA_BYTES | UINT32_C(1) << METRIC_ARENA_FREE_BYTES)

enum metric_scope {
	SCOPE_RECORD, /* the thread's, read by itself as the sample was taken */
	SCOPE_THREAD, /* the thread's, read by the collector */
	SCOPE_PROCESS,
	SCOPE_HOOKS, /* the thread's, counted from the samples of memory; in those alone */
};

/* What is known of a metric. */
struct metric_fact {
	enum metric_scope scope;
	uint32_t cost_ns;   /* of one reading, which may serve several metrics */
	const char *source; /* where the number comes from */
	const char *error;  /* how far it may be off */
};

/**
 * metrics_columns - every metric that needs no program's help: METRIC_BUILTIN, by enum metric_id
 *
 * Owns:    static.
 */
const struct metric *metrics_columns(void);

/**
 * metrics_facts - what is known of each of them
 *
 * Owns:    static.
 */
const struct metric_fact *metrics_facts(void);

/** metrics_auto - the mask of those that cost less than METRIC_AUTO_NS on this kernel */
uint32_t metrics_auto(void);

#endif
