/* recorder.h - one run of `wick record`: samples from the collector to the files */
#ifndef RECORD_RECORDER_H
#define RECORD_RECORDER_H

#include "base/err.h"
#include "output/files/recording.h"
#include "sampler/collector/collector.h"
#include "tools/flight/flight.h"
#include "tools/flight/trigger.h"
#include "tools/record/name_queue.h"
#include "tools/record/record_choose.h"
#include "tools/record/record_control.h"
#include "tools/record/record_options.h"
#include "tools/samples/hook_files.h"
#include "tools/samples/live_file.h"
#include "tools/samples/selection.h"
#include "tools/summary/module_list.h"
#include "tools/summary/summary.h"
#include "tools/target/following.h"
#include <stdint.h>

#include <stdbool.h>

/* Zero it; recorder_release() takes any state. */
struct recorder {
	const struct record_options *options;
	struct collector *collector;
	struct symbolizer *symbolizer;
	struct recording *recording;
	struct hook_files hook_files;
	struct flight flight;
	struct trigger_set triggers;
	uint64_t usage_ns; /* of the reading that they saw last */
	struct live_file live;
	struct name_queue queue;
	bool no_more_names; /* --mem-limit is used up */
	bool disk_is_full;  /* --disk-limit has ended it */
	bool in_break;      /* the file says that the breaker has paused */
	struct selection selection;
	struct record_control control;
	struct record_choose choose;
	struct following following;
	const struct collector_rate *marked; /* counts as of then; NULL: as of now */
	struct metric_columns columns;
	struct module_list modules; /* for end lines */
	char *agent_path;
	char *comm;
	struct engine engine;
	bool told_dear;    /* that timers took over */
	uint64_t switched; /* processes that were given perf events while they ran, as told */
	uint64_t truncated;
	uint64_t start_ns;
	bool is_live;     /* a terminal shows how it goes on */
	bool delayed;     /* --delay has passed */
	uint64_t told_ns; /* when counts and the live line were last brought up to date */
	pid_t pid;
	size_t n_attached;   /* that were named and have joined */
	pid_t namespace_pid; /* in its own pid namespace, when it has joined; 0: as pid */
};

/**
 * recorder_start - everything up to a running CMD and its first file
 * @ret_launched: CMD runs, also when what follows failed
 *
 * Return:  0; -errno and the reason.
 * Context: main thread, as for all of these.
 */
int recorder_start(struct recorder *recorder, const struct record_options *options,
		   bool *ret_launched, struct err *err);

/**
 * recorder_update_counts - what end lines are to say from now on
 *
 * Context: main thread.
 */
void recorder_update_counts(struct recorder *recorder);

/**
 * recorder_note - a comment line `# WORD : JSON` of a time, in the file or kept for one
 * @word: static
 *
 * Context: main thread.
 */
void recorder_note(struct recorder *recorder, uint64_t time_ns, const char *word, const char *json);

/**
 * recorder_run - record until CMD has ended, the duration is over or a signal asks to end
 *
 * Context: main thread.
 */
void recorder_run(struct recorder *recorder);

/**
 * recorder_finish - write what is left, close the files, and print the summary
 *
 * Context: main thread.
 */
void recorder_finish(struct recorder *recorder);

/**
 * recorder_has_dropped - whether there are samples that no disk took
 *
 * Context: main thread, after recorder_finish().
 */
bool recorder_has_dropped(const struct recorder *recorder);

/**
 * recorder_wait - wait for CMD's end, unless a signal asked wick to end
 *
 * Return:  the exit status of wick: CMD's, or 128 + the signal that ended wick.
 * Context: main thread.
 */
int recorder_wait(struct recorder *recorder);

/**
 * recorder_release - forget everything
 *
 * Context: main thread.
 */
void recorder_release(struct recorder *recorder);

struct progress {
	uint64_t elapsed_ns;
	uint32_t hz; /* that was asked for, */
	uint32_t effective_hz;
	bool interrupted; /* CMD had its Ctrl-C; the next one is ours */
	struct collector_stats collected;
	struct recording_stats written;
};

/**
 * progress_print - one line: time, samples, CPU seen, threads, losses, file
 *
 * Context: any thread.
 */
void progress_print(const struct progress *progress, struct buf *buf);

#endif
