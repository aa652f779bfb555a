/* selection.h - which samples of a recording are written: states, threads, functions */
#ifndef SAMPLES_SELECTION_H
#define SAMPLES_SELECTION_H

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "base/sample.h"
#include "sampler/collector/collector.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SELECTION_MAX_TIDS = 64 };

/* What was asked for.  Zero keeps everything. */
struct selection_options {
	uint32_t states; /* bits of 1 << enum sample_state; 0: all */
	struct collector_top top;
	const char *by;                 /* NULL: top.by is as it is */
	pid_t tids[SELECTION_MAX_TIDS]; /* these threads alone */
	size_t n_tids;                  /* 0: all */
	const char *threads;            /* a regular expression for names; NULL: all */
	const char *only_under;         /* a function that must be in the stack; NULL: any */
};

enum { SELECTION_OTHERS = 3, SELECTION_NEAR = 160 };

/* Zero it; selection_release() takes any state. */
struct selection {
	const struct selection_options *options;
	struct pattern *threads;
	struct buf only_under;              /* the function, as a file would spell it */
	struct buf symbol;                  /* one to compare with it */
	struct map last;                    /* metrics of each thread's last written sample */
	struct filtered filtered[N_SERIES]; /* what was left out */
	/* What there was instead, for who misspelt a name; the drain thread's until it ends. */
	bool a_thread_matched;
	bool a_stack_matched;
	char others[SELECTION_OTHERS][SAMPLE_COMM_SIZE]; /* threads' names that did not match */
	char near[SELECTION_NEAR]; /* a function that has the one asked for in its name */
};

/**
 * selection_parse_states - a list of states: running,runnable,sleeping,disk,stopped
 *
 * Return:  0; -EINVAL and the reason.
 * Context: any thread, as for all of these but where it says otherwise.
 */
int selection_parse_states(const char *text, uint32_t *ret_states, struct err *err);

/**
 * selection_parse_top - how many threads and how often they are chosen: N or N:INTERVAL
 * @top: n and interval_ns are set
 *
 * Return:  0; -EINVAL and the reason.
 * Context: any thread.
 */
int selection_parse_top(const char *text, struct collector_top *top, struct err *err);

/**
 * selection_parse_by - what makes a thread heavy: cpu, rss, faults, run_delay, io, a gauge
 * @gauges: the N_GAUGES that are recorded; their columns begin at METRIC_BUILTIN
 * @top: by and gauge are set
 *
 * Return:  0; -EINVAL and the reason.
 * Context: any thread.
 */
int selection_parse_by(const char *text, const char *const *gauges, size_t n_gauges,
		       struct collector_top *top, struct err *err);

/**
 * selection_parse_threads - whether a text is a regular expression
 *
 * Return:  0; -EINVAL and the reason.
 * Context: any thread.
 */
int selection_parse_threads(const char *text, struct err *err);

/**
 * selection_check - what the options ask of each other
 * @events: COLLECT_*
 *
 * Return:  0; -EINVAL and the reason.
 * Context: any thread.
 */
int selection_check(const struct selection_options *options, uint32_t events, struct err *err);

/**
 * selection_init - get ready
 *
 * Return:  0; -EINVAL, -ENOMEM and the reason.
 * Owns:    OPTIONS must outlive it.
 * Context: main thread.
 */
int selection_init(struct selection *selection, const struct selection_options *options,
		   struct err *err);

/**
 * selection_for_collector - the part that the collector sees to
 *
 * Owns:    the selection; the collector must end before it.
 * Context: main thread.
 */
struct collector_filter selection_for_collector(struct selection *selection);

/**
 * selection_chooses - whether any sample may be left out
 *
 * Context: any thread.
 */
bool selection_chooses(const struct selection_options *options);

/**
 * selection_keeps - whether a sample with names is written
 * @sample: its deltas are set anew, against what was kept before
 *
 * Context: main thread.
 */
bool selection_keeps(struct selection *selection, struct sample *sample);

/**
 * selection_leave_out - count a sample as one that is not written because of an option
 *
 * Context: main thread.
 */
void selection_leave_out(struct selection *selection, const struct sample *sample);

/**
 * selection_release - forget it
 *
 * Context: main thread.
 */
void selection_release(struct selection *selection);

#endif
