/* query_options.h - the one place that turns options into a query, for every command that looks */
#ifndef VIEW_QUERY_OPTIONS_H
#define VIEW_QUERY_OPTIONS_H

#include "flamescope/query/query.h"
#include "tools/cli/option.h"

/* Ids of the options; a command's own start at OPTION_LONG_ONLY and stay below. */
enum query_option {
	QUERY_OPT_TIME = OPTION_LONG_ONLY + 100,
	QUERY_OPT_EVERY,
	QUERY_OPT_THREAD,
	QUERY_OPT_COMM,
	QUERY_OPT_PROCESS,
	QUERY_OPT_STATE,
	QUERY_OPT_WAIT,
	QUERY_OPT_EVENT,
	QUERY_OPT_IDLE,
	QUERY_OPT_WHERE,
	QUERY_OPT_ONLY,
	QUERY_OPT_WITHOUT,
	QUERY_OPT_FOCUS,
	QUERY_OPT_TRUNCATE,
	QUERY_OPT_FLATTEN,
	QUERY_OPT_ELIDE,
	QUERY_OPT_GROUP,
	QUERY_OPT_METRIC,
	QUERY_OPT_END,
};

/* Rows of a command's option table. */
#define QUERY_OPTION_SPECS                                                                         \
	{QUERY_OPT_TIME, "time", "RANGE",                                                          \
	 "only this time, in seconds from the first sample: 10-20, 1.5s-, -100ms, "                \
	 "10-20@0-100ms (of each second); can be given several times"},                            \
		{QUERY_OPT_EVERY, "every", "RULE", "of each period only a part: 1s:0-100ms"},      \
		{QUERY_OPT_THREAD, "thread", "RE",                                                 \
		 "only threads whose name or number matches this regular expression"},             \
		{QUERY_OPT_COMM, "comm", "RE", "only threads whose name matches"},                 \
		{QUERY_OPT_PROCESS, "process", "RE",                                               \
		 "only processes whose number or name matches"},                                   \
		{QUERY_OPT_STATE, "state", "RE",                                                   \
		 "only samples in such a state: running, sleeping, disk..."},                      \
		{QUERY_OPT_WAIT, "wait", "RE", "only samples that wait so: futex, read, poll..."}, \
		{QUERY_OPT_EVENT, "event", "RE",                                                   \
		 "show the first event whose name matches (default: the first event)"},            \
		{QUERY_OPT_IDLE, "idle", NULL, "include samples of idle CPUs (swapper)"},          \
		{QUERY_OPT_WHERE, "where", "TEST",                                                 \
		 "only samples for which DIM=RE or DIM!=RE holds; DIM as for --group"},            \
		{QUERY_OPT_ONLY, "only", "RE",                                                     \
		 "only stacks with a frame that matches; given twice, both have to"},              \
		{QUERY_OPT_WITHOUT, "without", "RE", "only stacks without a frame that matches"},  \
		{QUERY_OPT_FOCUS, "focus", "RE",                                                   \
		 "begin stacks at the outermost frame that matches; leave out the others"},        \
		{QUERY_OPT_TRUNCATE, "truncate", "RE",                                             \
		 "count what the outermost frame that matches calls as its own"},                  \
		{QUERY_OPT_FLATTEN, "flatten", NULL,                                               \
		 "show a function that calls itself directly once"},                               \
		{QUERY_OPT_ELIDE, "elide", "RE",                                                   \
		 "leave out frames that match; @wrappers: dispatchers and the like, "              \
		 "@FILE: the rules of an INI file"},                                               \
		{QUERY_OPT_GROUP, "group", "LIST",                                                 \
		 "tell samples apart by what becomes outermost frames: thread, comm, tid, "        \
		 "pid, process, host, cpu, event, state, wait, on..., METRIC:class (its size: "    \
		 "100s MiB), sign (gain and loss, with --metric NAME:delta)"},                     \
	{                                                                                          \
		QUERY_OPT_METRIC, "metric", "NAME",                                                \
			"what is counted: samples, period (what each stands for: time, bytes), a " \
			"metric, or NAME:mean, NAME:delta, NAME:gain, NAME:loss"                   \
	}

enum { QUERY_OPTIONS_KEPT = 160 };

/* Zero it. */
struct query_options {
	struct query query; /* points into the strings below */
	char *kept[QUERY_OPTIONS_KEPT];
	size_t n_kept;
};

/**
 * query_options_take - what one option adds to the query
 * @id: as option_next() returned it
 *
 * Return:  1; 0 when the option is none of these; -EINVAL and the reason; -ENOMEM; -errno of a
 *          file of rules.
 * Context: main thread.
 */
int query_options_take(struct query_options *options, int id, const char *value, struct err *err);

/**
 * query_options_release - forget the strings; the query points nowhere after it
 *
 * Context: any thread.
 */
void query_options_release(struct query_options *options);

#endif
