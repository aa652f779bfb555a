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
	 "use only this time range, in seconds from the first sample: 10-20, 1.5s-, -100ms, "      \
	 "10-20@0-100ms (of each second); may be repeated"},                                       \
		{QUERY_OPT_EVERY, "every", "RULE", "use only a part of each period: 1s:0-100ms"},  \
		{QUERY_OPT_THREAD, "thread", "RE",                                                 \
		 "use only threads whose name or id matches the regular expression RE"},           \
		{QUERY_OPT_COMM, "comm", "RE", "use only threads whose name matches"},             \
		{QUERY_OPT_PROCESS, "process", "RE",                                               \
		 "use only processes whose name or id matches"},                                   \
		{QUERY_OPT_STATE, "state", "RE",                                                   \
		 "use only samples whose state matches: running, sleeping, disk..."},              \
		{QUERY_OPT_WAIT, "wait", "RE",                                                     \
		 "use only samples whose wait matches: futex, read, poll..."},                     \
		{QUERY_OPT_EVENT, "event", "RE",                                                   \
		 "show the first event whose name matches (default: the first event)"},            \
		{QUERY_OPT_IDLE, "idle", NULL, "include samples of idle CPUs (swapper)"},          \
		{QUERY_OPT_WHERE, "where", "TEST",                                                 \
		 "use only samples for which DIM=RE or DIM!=RE holds; DIM is a name as in "        \
		 "--group"},                                                                       \
		{QUERY_OPT_ONLY, "only", "RE",                                                     \
		 "use only stacks with a matching frame; if repeated, all must match"},            \
		{QUERY_OPT_WITHOUT, "without", "RE", "use only stacks without a matching frame"},  \
		{QUERY_OPT_FOCUS, "focus", "RE",                                                   \
		 "start stacks at the outermost matching frame; leave out stacks without one"},    \
		{QUERY_OPT_TRUNCATE, "truncate", "RE",                                             \
		 "end stacks at the outermost matching frame, which gets the cost of its "         \
		 "callees"},                                                                       \
		{QUERY_OPT_FLATTEN, "flatten", NULL,                                               \
		 "show a function that calls itself directly as one frame"},                       \
		{QUERY_OPT_ELIDE, "elide", "RE",                                                   \
		 "leave out matching frames; @wrappers: dispatchers and similar functions, "       \
		 "@FILE: rules from an INI file"},                                                 \
		{QUERY_OPT_GROUP, "group", "LIST",                                                 \
		 "add outermost frames for: thread, comm, tid, pid, process, host, cpu, event, "   \
		 "state, wait, on..., METRIC:class (magnitude: 100s MiB), sign (gain or loss, "    \
		 "with --metric NAME:delta)"},                                                     \
	{                                                                                          \
		QUERY_OPT_METRIC, "metric", "NAME",                                                \
			"what to count: samples, period (the time or bytes that each sample "      \
			"stands for), a metric, or NAME:mean, NAME:delta, NAME:gain, NAME:loss"    \
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
