/* record_options.h - what `wick record` was asked for */
#ifndef RECORD_RECORD_OPTIONS_H
#define RECORD_RECORD_OPTIONS_H

#include "base/err.h"
#include "output/files/recording.h"
#include "sampler/collector/collector.h"
#include "tools/flight/flight_options.h"
#include "tools/options/attach_options.h"
#include "tools/options/budget_options.h"
#include "tools/options/engine_options.h"
#include "tools/options/event_list.h"
#include "tools/options/metric_list.h"
#include "tools/options/symbol_options.h"
#include "tools/samples/selection.h"
#include "tools/target/engine.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct record_options {
	struct event_list event_list;
	struct engine_options engine;
	struct external_choice external; /* of the above and below */
	uint32_t hz;
	uint64_t duration_ns; /* 0: until CMD ends */
	uint64_t delay_ns;    /* before the first sample; the duration begins behind it */
	bool paused;          /* take no samples until `wick start` */
	const char *output;   /* NULL: the default name; into argv, or PERF_NAME */
	const char *picture;  /* what -o gave, when that is a picture: the recording is beside it */
	char perf_name[PATH_MAX];
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
	struct selection_options selection;
	struct flight_choice flight;
	struct symbol_options symbols;
	bool no_cmdline;
	enum ring_discovery discovery;
	struct budget_options budget;
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
 * Context: main thread.
 */
int record_options_parse(int argc, char **argv, struct record_options *ret_options,
			 struct err *err);

#endif
