/*
 * recorder.h - wick record: its options, and a recording while it runs
 *
 * Context: main thread, unless a function says another.
 */
#ifndef RECORD_RECORDER_H
#define RECORD_RECORDER_H

#include "base/err.h"
#include "output/files/recording.h"
#include "sampler/collector/collector.h"
#include "sampler/collector/select/choice.h"
#include "tools/control/control.h"
#include "tools/export/export.h"
#include "tools/flight/flight.h"
#include "tools/flight/trigger.h"
#include "tools/options/options.h"
#include "tools/record/name_queue.h"
#include "tools/samples/samples.h"
#include "tools/summary/module_list.h"
#include "tools/summary/summary.h"
#include "tools/target/target.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct record_options {
	struct event_list event_list;
	struct engine_options engine;
	struct external_choice external; /* of the above and below */
	uint32_t hz;
	uint64_t duration_ns; /* 0: until CMD ends */
	uint64_t delay_ns;    /* before the first sample; the duration begins after it */
	bool paused;          /* take no samples until `wick start` */
	const char *output;   /* NULL: the default name; into argv, or PERF_NAME */
	const char *picture;  /* what -o gave, when that is a picture: the recording is beside it */
	char perf_name[PATH_MAX];
	bool view;  /* show it at the end */
	bool force; /* files that are there are replaced */
	uint64_t flush_ns;
	struct recording_limit rotate;
	struct recording_limit keep;
	uint64_t disk_limit; /* bytes of text, of all files together; 0: there is no limit */
	enum recording_compress compress;
	const char *on_rotate;
	bool bare;
	bool ns;
	enum perf_script_metrics_as metrics_as;
	struct metric_list metrics;
	const char *group; /* NULL: stacks are as they were */
	struct groups groups;
	bool flatten;
	bool live; /* a file of what is still allocated */
	struct sample_filter_options filter;
	struct flight_choice flight;
	struct symbol_options symbols;
	bool no_cmdline;
	enum ring_discovery discovery;
	struct budget_options budget;
	struct export_options export;
	bool quiet;
	bool verbose;
	bool help;
	struct attach_options attach;
	struct collector_top choose; /* --top of -a: processes */
	int argc;                    /* of CMD */
	char **argv;
};

/**
 * record_options_parse - the command line of `wick record`
 *
 * Return:  0; -EINVAL and the reason.
 * Owns:    strings point into ARGV and RET_OPTIONS, which is not to be moved.
 */
int record_options_parse(int argc, char **argv, struct record_options *ret_options,
			 struct err *err);

struct recorder;

/* Zero it. */
struct record_choose {
	bool on;
	struct choice choice;
	struct choice_gauges gauges; /* of --by GAUGE */
	pid_t refused;               /* the last one; 0: none has */
	struct err why;
};

/**
 * record_choose_start - begin to record, without a process yet
 *
 * Return:  0; -errno and the reason.
 */
int record_choose_start(struct recorder *recorder, struct err *err);

/** record_choose_tick - scan the machine's processes when due; attach to some, detach from others
 */
void record_choose_tick(struct recorder *recorder, uint64_t now_ns);

/**
 * record_choose_due_ns - when record_choose_tick() next has something to do
 *
 * Return:  ns; UINT64_MAX: never.
 */
uint64_t record_choose_due_ns(const struct recorder *recorder);

/** record_choose_tell - say how many were attached, detached and refused */
void record_choose_tell(const struct recorder *recorder);

/** record_choose_release - forget everything */
void record_choose_release(struct recorder *recorder);

/* Zero it. */
struct record_control {
	struct control_server server;
	struct collector_rate rate; /* the last that has come by */
	uint32_t hz_least;          /* of all that have */
	uint32_t hz_most;
};

/**
 * record_control_start - be found by `wick stop -p PID` and the like
 *
 * A failure does not end the recording; a message says why.
 */
void record_control_start(struct recorder *recorder);

/** record_control_tick - begin to do what was requested */
void record_control_tick(struct recorder *recorder, uint64_t now_ns);

/** record_rate_changed - write what of the rate is different from LAST; a file for another rate */
void record_rate_changed(struct recorder *recorder, const struct collector_rate *last);

/**
 * record_control_passed - another rate, or a barrier, after all samples that were taken before it
 */
void record_control_passed(struct recorder *recorder, const struct collector_rate *rate);

/** record_control_stop - be found no more */
void record_control_stop(struct recorder *recorder);

/**
 * record_budget_tell_price - say what the rate that was requested costs, where that is much
 *
 * Context: main thread, when the engine has been chosen.
 */
void record_budget_tell_price(const struct recorder *recorder);

/** record_budget_passed - a `# pause` line when the breaker has begun or ended a pause */
void record_budget_passed(struct recorder *recorder, const struct collector_rate *rate);

/**
 * record_budget_tick - no more names when --mem-limit is used, no more samples when --disk-limit is
 */
void record_budget_tick(struct recorder *recorder);

/**
 * record_flight_prepare - what the collector reads for triggers
 *
 * Return:  0; -errno and the reason: the kernel does not tell it.
 */
int record_flight_prepare(const struct record_options *options, struct collector_options *collector,
			  struct err *err);

/**
 * record_flight_start - begin to keep samples, before the first comes
 *
 * Return:  0, also when that was not requested; -ENOMEM and the reason.
 */
int record_flight_start(struct recorder *recorder, struct err *err);

/** record_flight_passed - everything up to a barrier of the collector has been kept */
void record_flight_passed(struct recorder *recorder, const struct collector_rate *rate);

/**
 * record_flight_now - write the last samples: everything up to now has been kept
 * @why: what the message says
 *
 * Return:  0 and the path; -errno, after a message.
 * Owns:    the recorder; good until the next call.
 */
int record_flight_now(struct recorder *recorder, const char *why, const char **ret_path);

/** record_flight_ended - a process has ended, perhaps by a signal that has samples written */
void record_flight_ended(struct recorder *recorder, const struct collector_event *event,
			 uint64_t now_ns);

/** record_flight_tick - check the triggers, and write what is due */
void record_flight_tick(struct recorder *recorder, uint64_t now_ns);

/** record_flight_finish - write what was requested, and say what was not */
void record_flight_finish(struct recorder *recorder);

enum { RECORD_KEPT_COUNTS = 256, RECORD_KEPT_BYTES = 16 * 1024 * 1024 };

/* Rows of one interval, for files of the flight recorder. */
struct record_interval {
	uint64_t since_ns;
	uint64_t time_ns;
	char *rows; /* each ends with a newline */
};

/* Exact counts on their way into the recording and to other programs.  Zero it. */
struct record_counts {
	struct totals last; /* up to here they are in the recording */
	uint64_t due_ns;    /* of the next rows; 0: at the ends of files alone */
	uint64_t every_ns;
	struct sink *sinks[EXPORT_TARGETS];
	struct listener *listener;
	struct page_maker *maker;
	struct functions *functions;
	uint64_t textfile_due_ns;
	bool textfile_failed;
	bool too_many; /* rows: it was reported */
	struct record_interval kept[RECORD_KEPT_COUNTS];
	size_t n_kept; /* ever */
	size_t kept_bytes;
};

/**
 * record_counts_start - open what --stats-to, --listen and --textfile name
 *
 * Before CMD runs.
 *
 * Return:  0; -errno and the reason.
 */
int record_counts_start(struct recorder *recorder, struct err *err);

/** record_counts_sample - count a sample's CPU for its function */
void record_counts_sample(struct recorder *recorder, const struct sample *sample);

/** record_counts_write - rows of what was counted since the last ones, to all that take rows */
void record_counts_write(struct recorder *recorder);

/** record_counts_window - what was counted in a time, to a file of the flight recorder */
void record_counts_window(struct recorder *recorder, uint64_t from_ns, uint64_t until_ns);

/**
 * record_counts_rows - all that was counted, for a control client
 * @reset: and count from zero again
 *
 * Return:  0; -ENODATA: no program counts; -ENOMEM.
 */
int record_counts_rows(struct recorder *recorder, bool reset, struct buf *rows);

/** record_counts_tick - write and serve what is due */
void record_counts_tick(struct recorder *recorder, uint64_t now_ns);

/**
 * record_counts_due_ns - when record_counts_tick() next has something to do
 *
 * Return:  ns; UINT64_MAX: never.
 */
uint64_t record_counts_due_ns(const struct recorder *recorder);

/** record_counts_finish - write what is left, and tell what readers did not take */
void record_counts_finish(struct recorder *recorder);

/** record_counts_release - forget everything */
void record_counts_release(struct recorder *recorder);

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
	struct sample_filter filter;
	struct record_control control;
	struct record_choose choose;
	struct record_counts counts;
	struct following following;
	const struct collector_rate *barrier; /* counts as of then; NULL: as of now */
	struct metric_columns columns;
	struct module_list modules; /* for end lines */
	char *agent_path;
	char *comm;
	struct engine engine;
	bool told_dear;    /* that timers took over */
	uint64_t switched; /* processes that were given perf events while they ran, as printed */
	uint64_t truncated;
	uint64_t start_ns;
	bool is_live;     /* a terminal shows how it goes on */
	bool delayed;     /* --delay has passed */
	uint64_t told_ns; /* when counts and the live line were last brought up to date */
	pid_t pid;
	size_t n_attached;   /* of -p and --comm */
	pid_t namespace_pid; /* in its own pid namespace, if attached; 0: as pid */
};

/**
 * recorder_start - everything up to a running CMD and its first file
 * @ret_launched: CMD runs, also when what follows failed
 *
 * Return:  0; -errno and the reason.
 */
int recorder_start(struct recorder *recorder, const struct record_options *options,
		   bool *ret_launched, struct err *err);

/** recorder_update_counts - what end lines are to say from now on */
void recorder_update_counts(struct recorder *recorder);

/**
 * recorder_note - a comment line `# WORD : JSON` of a time, in the file or kept for one
 * @word: static
 */
void recorder_note(struct recorder *recorder, uint64_t time_ns, const char *word, const char *json);

/** recorder_run - record until CMD has ended, the duration is over or a signal ends it */
void recorder_run(struct recorder *recorder);

/** recorder_release - forget everything */
void recorder_release(struct recorder *recorder);

struct progress {
	uint64_t elapsed_ns;
	uint32_t hz; /* that was requested, */
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
