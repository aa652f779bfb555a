/* record_options.c - the options of `wick record` */
#include "tools/record/recorder.h"

#include "sampler/procfs/proc_status.h"
#include "tools/cli/cmd.h"
#include "tools/cli/value.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	OPT_FLUSH = OPTION_LONG_ONLY,
	OPT_ROTATE,
	OPT_KEEP,
	OPT_DISK_LIMIT,
	OPT_COMPRESS,
	OPT_ON_ROTATE,
	OPT_BARE,
	OPT_NS,
	OPT_METRICS,
	OPT_METRICS_AS,
	OPT_NO_CMDLINE,
	OPT_DISCOVERY,
	OPT_TOP,
	OPT_BY,
	OPT_STATE,
	OPT_THREADS,
	OPT_ONLY_UNDER,
	OPT_ONLY_PROFILED,
	OPT_GROUP,
	OPT_FLATTEN,
	OPT_LIVE,
	OPT_DELAY,
	OPT_PAUSED,
	OPT_CALL_GRAPH,
	OPT_VIEW,
};

enum { DEFAULT_HZ = 99 };
#define DEFAULT_FLUSH_NS UINT64_C(1000000000)

/* The man page docs/man/wick-record.1 says the same; a lint test compares them. */
const struct option_spec record_option_specs[] = {
	OPTION_GROUP("What to record"),
	ATTACH_OPTION_SPECS,
	{'t', "tid", "LIST", "record only these threads (wick attaches to their processes)"},
	{'a', "all", NULL,
	 "attach to the busiest processes of the machine (--top 10); see --top and --by"},
	{'e', "event", "LIST",
	 "what to sample: cpu, wall, alloc[=SIZE], lock[=DUR], or a perf event[=N] (default: cpu)"},
	{OPT_LIVE, "live", NULL,
	 "with -e alloc: also keep a file of the memory that is still allocated"},
	{OPT_TOP, "top", "N",
	 "record only the N busiest threads, chosen again every 10s (N:2s: every 2s)"},
	{OPT_BY, "by", "WHAT",
	 "what --top ranks by: cpu, rss, faults, run_delay, io or a gauge (default: cpu)"},
	{OPT_STATE, "state", "LIST",
	 "record only threads in these states: running, runnable, sleeping, disk, stopped"},
	{OPT_THREADS, "threads", "REGEX",
	 "record only threads whose name matches; with --top, in addition to the busiest"},
	{OPT_ONLY_UNDER, "only-under", "FUNCTION", "record only stacks that contain this function"},
	{OPT_ONLY_PROFILED, "only-profiled", NULL,
	 "record only what runs inside WICK_PROFILE_FN or wick_profile_start() (wick.h)"},
	OPTION_GROUP("Rate and duration"),
	{'F', "freq", "HZ",
	 "samples per second of CPU time in each thread: 1 to 10000, or max (default: 99)"},
	{'d', "duration", "DUR", "stop recording after DUR; CMD continues to run"},
	{OPT_DELAY, "delay", "DUR",
	 "wait for DUR before the first sample; --duration counts from then"},
	{OPT_PAUSED, "paused", NULL, "start paused: take no samples until `wick start -p PID`"},
	FLIGHT_OPTION_SPECS,
	OPTION_GROUP("Output"),
	{'o', "output", "FILE",
	 "write to FILE (default: wick.%c.%p.%t.perf): %p pid, %c name, %h host, %t time, %n "
	 "segment; for a .svg or .html, draw the flame graph there at the end and write the "
	 "samples beside it"},
	{'f', "force", NULL, "replace existing files"},
	{OPT_VIEW, "view", NULL,
	 "when the recording ends, open it in a browser; without a display, print the command that "
	 "does so from another machine"},
	{OPT_FLUSH, "flush", "DUR",
	 "write samples to disk at most DUR after they were taken (default: 1s)"},
	{OPT_ROTATE, "rotate", "LIMIT",
	 "start a new file after a size, a duration or a number of samples (64M, 60s, "
	 "50000samples)"},
	{OPT_KEEP, "keep", "LIMIT",
	 "keep only the newest N files, a total size, or files up to an age (30, 2G, 24h)"},
	{OPT_DISK_LIMIT, "disk-limit", "SIZE",
	 "stop recording when SIZE of text has been written; CMD continues to run"},
	{OPT_COMPRESS, "compress", "TYPE",
	 "compress finished files: gz, zst or none (default: none)"},
	{OPT_ON_ROTATE, "on-rotate", "CMD", "run sh -c CMD for each finished file; $1 is its path"},
	OPTION_GROUP("Names and contents of the file"),
	SYMBOL_OPTION_SPECS,
	{OPT_NO_SYMBOLS, "no-symbols", NULL,
	 "write module+offset instead of names; wick symbolize can add the names later"},
	{OPT_SRCLINE, "srcline", NULL, "write file and line of each frame in a comment line"},
	{OPT_FLATTEN, "flatten-recursive", NULL,
	 "write a function that calls itself directly as one frame"},
	{OPT_GROUP, "group", "LIST",
	 "add outermost frames for: state, wait, object, thread, comm, process, cpu, a label of "
	 "the "
	 "program (task, tier, identity, trace, req, function) or a metric"},
	{OPT_METRICS, "metrics", "LIST",
	 "auto, all, none, or names of metrics and gauges, separated by commas (default: auto)"},
	{OPT_METRICS_AS, "metrics-as", "HOW",
	 "write metrics as comment or inline (default: comment)"},
	{OPT_NO_CMDLINE, "no-cmdline", NULL, "do not write the command line to the file"},
	{OPT_BARE, "bare", NULL, "write no comment lines, for Perfetto"},
	{OPT_NS, "ns", NULL, "write time stamps with nine decimals instead of six"},
	OPTION_GROUP("Exact counts"),
	EXPORT_OPTION_SPECS,
	OPTION_GROUP("Limits"),
	MAX_OVERHEAD_OPTION_SPEC("1% with -a, --flight or --trigger and no -F, otherwise off"),
	BUDGET_OPTION_SPECS,
	OPTION_GROUP("Advanced"),
	ENGINE_OPTION_SPECS,
	{OPT_DISCOVERY, "discovery", "HOW",
	 "how wick finds threads: timer, hooks or auto (default: auto)"},
	OPTION_GROUP("Other"),
	{'q', "quiet", NULL, "print only errors"},
	{'v', "verbose", NULL, "print more details at the end"},
	{OPTION_HELP, "help", NULL, "print this help"},
	/* as perf and py-spy have them; stacks are always recorded */
	{'r', "freq", "HZ", NULL},
	{'F', "rate", "HZ", NULL},
	{'g', "stacks", NULL, NULL},
	{OPT_CALL_GRAPH, "call-graph", "HOW", NULL},
	{0, NULL, NULL, NULL},
};

static int take_compress(const char *text, struct record_options *options, struct err *err)
{
	static const char *const words[] = {"none", "gz", "zst", NULL};
	static const enum recording_compress values[] = {COMPRESS_NONE, COMPRESS_GZ, COMPRESS_ZST};
	int i = value_word(text, words, err);

	if (i >= 0)
		options->compress = values[i];
	return i;
}

static int take_metrics_as(const char *text, struct record_options *options, struct err *err)
{
	static const char *const words[] = {"comment", "inline", NULL};
	int i = value_word(text, words, err);

	if (i >= 0)
		options->metrics_as = i == 0 ? METRICS_AS_COMMENT : METRICS_AS_INLINE;
	return i;
}

static int take_discovery(const char *text, struct record_options *options, struct err *err)
{
	static const char *const words[] = {"auto", "timer", "hooks", NULL};
	int i = value_word(text, words, err);

	if (i >= 0)
		options->discovery = i == 0   ? collector_auto_discovery()
				     : i == 1 ? DISCOVERY_TIMER
					      : DISCOVERY_HOOKS;
	return i;
}

static int take_rate(const char *value, uint32_t *ret_hz, struct err *err)
{
	if (strcmp(value, "max") != 0)
		return value_rate(value, ret_hz, err);
	*ret_hz = COLLECTOR_MAX_HZ;
	return 0;
}

static pid_t process_of(pid_t tid)
{
	struct proc_status status;
	uint64_t pid = 0;

	if (proc_status_read(&status, tid, 0) == 0)
		pid = proc_status_number(&status, "Tgid", 10);
	proc_status_release(&status);
	return (pid_t)pid;
}

/* Wick attaches to their processes; samples of their other threads are left out. */
static int take_tids(const char *list, struct record_options *options, struct err *err)
{
	struct sample_filter_options *filter = &options->filter;
	char word[32];

	for (const char *at = list;; at++) {
		size_t len = strcspn(at, ",");
		pid_t tid = 0;
		pid_t pid;

		(void)snprintf(word, sizeof(word), "%.*s", len < sizeof(word) ? (int)len : 0, at);
		pid = value_pid(word, &tid) == 0 ? process_of(tid) : 0;
		if (pid == 0)
			return err_set(
				err, 0,
				"'%.*s' is not a running thread, try: ps -eL, which lists threads",
				(int)len, at);
		if (filter->n_tids == SELECTION_MAX_TIDS)
			return err_set(err, 0, "more than %d threads", SELECTION_MAX_TIDS);
		filter->tids[filter->n_tids++] = tid;
		(void)snprintf(word, sizeof(word), "%d", (int)pid);
		if (attach_options_take('p', word, &options->attach, err) < 0)
			return -EINVAL;
		at += len;
		if (!*at)
			return 0;
	}
}

/* The options that say what is sampled and for how long, and those without value. */
static int take_option(int id, const char *value, struct record_options *options, struct err *err)
{
	switch (id) {
	case 'e':
		return event_list_parse(value, &options->event_list, err);
	case 'F':
		return take_rate(value, &options->hz, err);
	case 't':
		return take_tids(value, options, err);
	case 'g':
	case OPT_CALL_GRAPH:
		return 0;
	case 'd':
		return value_duration(value, &options->duration_ns, err);
	case OPT_DELAY:
		return value_duration(value, &options->delay_ns, err);
	case OPT_DISCOVERY:
		return take_discovery(value, options, err);
	case OPT_METRICS:
		return metric_list_parse(value, &options->metrics, err);
	case OPT_METRICS_AS:
		return take_metrics_as(value, options, err);
	case OPT_LIVE:
		options->live = true;
		return 0;
	case OPT_PAUSED:
		options->paused = true;
		return 0;
	case OPT_VIEW:
		options->view = true;
		return 0;
	case OPT_BARE:
		options->bare = true;
		return 0;
	case OPT_NS:
		options->ns = true;
		return 0;
	case OPT_NO_CMDLINE:
		options->no_cmdline = true;
		return 0;
	case 'q':
		options->quiet = true;
		return 0;
	case 'v':
		options->verbose = true;
		return 0;
	default:
		options->help = true;
		return 0;
	}
}

/* What the %s of a name may stand for; output/ fills them in. */
static int check_template(const char *path, struct err *err)
{
	if (!*path)
		return err_set(err, 0, "'' is not a file name, try: -o app.perf");
	if (strcmp(path, "-") == 0)
		return err_set(
			err, 0,
			"'-': standard output belongs to CMD, give a file name (./- is one)");
	for (const char *at = strchr(path, '%'); at; at = strchr(at + 2, '%'))
		if (!at[1] || !strchr("pchtn%", at[1]))
			return err_set(
				err, 0,
				"'%%%.1s' has no meaning; there are %%p %%c %%h %%t %%n %%%%",
				at + 1);
	return 0;
}

/* The options that say which samples are written, and how stacks are put together. */
static int take_selection_option(int id, const char *value, struct record_options *options,
				 struct err *err)
{
	struct sample_filter_options *filter = &options->filter;

	switch (id) {
	case OPT_TOP:
		return sample_filter_parse_top(value, &filter->top, err);
	case OPT_BY:
		filter->by = value;
		return 0;
	case OPT_STATE:
		return sample_filter_parse_states(value, &filter->states, err);
	case OPT_THREADS:
		filter->threads = value;
		return sample_filter_parse_threads(value, err);
	case OPT_ONLY_UNDER:
		filter->only_under = value;
		return *value ? 0 : err_set(err, 0, "'' is not a function, try: --only-under main");
	case OPT_ONLY_PROFILED:
		filter->only_profiled = true;
		return 0;
	case OPT_GROUP:
		options->group = value;
		return 0;
	case OPT_FLATTEN:
		options->flatten = true;
		return 0;
	default:
		return take_option(id, value, options, err);
	}
}

/* The options of files of their own; others are take_selection_option()'s. */
static int take_shared_option(int id, const char *value, struct record_options *options,
			      struct err *err)
{
	int r = symbol_options_take(id, value, &options->symbols, err);

	if (r == 0)
		r = flight_options_take(id, value, &options->flight, err);
	if (r == 0)
		r = attach_options_take(id, value, &options->attach, err);
	if (r == 0)
		r = engine_options_take(id, value, &options->engine, err);
	if (r == 0)
		r = budget_options_take(id, value, &options->budget, err);
	if (r == 0)
		r = export_options_take(id, value, &options->export, err);
	return r == 0 ? take_selection_option(id, value, options, err) : r;
}

/* The options about files; others are take_shared_option()'s. */
static int take_file_option(void *context, int id, const char *value, struct err *err)
{
	struct record_options *options = context;

	switch (id) {
	case 'o':
		options->output = value;
		return check_template(value, err);
	case 'f':
		options->force = true;
		return 0;
	case OPT_FLUSH:
		return value_duration(value, &options->flush_ns, err);
	case OPT_ROTATE:
		return value_rotate(value, &options->rotate, err);
	case OPT_KEEP:
		return value_keep(value, &options->keep, err);
	case OPT_DISK_LIMIT:
		return value_size(value, &options->disk_limit, err);
	case OPT_COMPRESS:
		return take_compress(value, options, err);
	case OPT_ON_ROTATE:
		options->on_rotate = value;
		return 0;
	default:
		return take_shared_option(id, value, options, err);
	}
}

/* What is grouped by is recorded. */
static int take_groups(const struct metric_columns *columns, struct record_options *options,
		       struct err *err)
{
	int r = groups_parse(options->group, columns->metrics, columns->n, &options->groups, err);

	for (size_t i = 0; r == 0 && i < options->groups.n; i++)
		if (options->groups.at[i].kind == GROUP_METRIC)
			options->metrics.mask |= UINT32_C(1) << options->groups.at[i].metric;
	return r;
}

/* What could only be read once it was known which gauges there are. */
static int take_names_of_gauges(struct record_options *options, struct err *err)
{
	struct sample_filter_options *filter = &options->filter;
	struct metric_columns columns;

	if (flight_options_gauges(&options->flight, &options->metrics, err) < 0)
		return option_blame(record_option_specs, OPT_TRIGGER, err);
	metric_list_columns(&options->metrics, &columns);
	if (options->group && take_groups(&columns, options, err) < 0)
		return option_blame(record_option_specs, OPT_GROUP, err);
	if (filter->by && sample_filter_parse_by(filter->by, columns.gauges,
						 options->metrics.n_gauges, &filter->top, err) < 0)
		return option_blame(record_option_specs, OPT_BY, err);
	return 0;
}

static bool is_limited(const struct recording_limit *limit)
{
	return limit->bytes || limit->ns || limit->samples;
}

/* What lives is known by what was not given back, by whichever thread. */
static int check_live(const struct record_options *options, struct err *err)
{
	const struct sample_filter_options *filter = &options->filter;

	if (!options->live)
		return 0;
	if (!(options->event_list.events & COLLECT_ALLOC)) {
		(void)err_set(err, 0, "--live lists allocated memory, and memory is not sampled");
		err_hint(err, "-e alloc");
		return -EINVAL;
	}
	if (filter->top.n || filter->threads || filter->states || filter->only_profiled)
		return err_set(err, 0,
			       "--live needs all releases of memory, and --top, --threads, --state "
			       "and --only-profiled leave some out, try: one of them");
	return 0;
}

static int check_symbols(const struct record_options *options, struct err *err)
{
	if (options->bare && options->symbols.srcline)
		return err_set(err, 0,
			       "--bare writes no comments, --srcline does, try: one of them");
	if (options->symbols.no_symbols && options->filter.only_under)
		return err_set(err, 0,
			       "--only-under needs names, --no-symbols has none, try: one of them");
	return 0;
}

/* A command to start, or processes to attach to. */
static int check_subject(const struct record_options *options, struct err *err)
{
	bool attaches = attach_options_given(&options->attach);

	if (!attaches && options->argc == 0) {
		(void)err_set(err, 0, "no command to record");
		err_hint(err, "wick record -- ./program, or -p PID");
		return -EINVAL;
	}
	if (attaches && options->argc > 0)
		return err_set(err, 0,
			       "'%s' starts a program, -p and --comm attach to running ones, "
			       "try: one of them",
			       options->argv[0]);
	if (attaches && (options->event_list.events & (COLLECT_ALLOC | COLLECT_LOCK))) {
		(void)err_set(
			err, 0,
			"-e alloc and -e lock work with programs that wick starts, not with -p");
		err_hint(err, "wick record -e alloc -- ./program");
		return -EINVAL;
	}
	return 0;
}

/* What --top and --by mean: with -a not threads, but processes. */
static int take_choice(struct record_options *options, struct err *err)
{
	struct sample_filter_options *filter = &options->filter;

	if (!options->attach.all)
		return 0;
	if (options->attach.n_pids > 0 || options->attach.comm)
		return err_set(err, 0,
			       "-a chooses the processes itself, -p and --comm name them, try: one "
			       "of them");
	if (filter->top.n == 0)
		(void)sample_filter_parse_top("10", &filter->top, err);
	options->choose = filter->top;
	filter->top = (struct collector_top){0};
	filter->by = NULL;
	return 0;
}

/* A picture is drawn of a recording: of x.svg the text is x.perf. */
static int take_picture(struct record_options *options, struct err *err)
{
	const char *output = options->output ? options->output : "";
	const char *dot = strrchr(output, '.');

	if (!dot || (strcmp(dot, ".svg") != 0 && strcmp(dot, ".html") != 0))
		return 0;
	if (is_limited(&options->rotate) || flight_options_on(&options->flight) || options->bare) {
		(void)err_set(err, 0,
			      "-o '%s' is one picture, and these options split the recording or "
			      "leave out what a picture needs",
			      output);
		err_hint(err, "-o FILE.perf, then wick flamegraph with its files");
		return -EINVAL;
	}
	options->picture = output;
	if (snprintf(options->perf_name, sizeof(options->perf_name), "%.*s.perf",
		     (int)(dot - output), output) >= (int)sizeof(options->perf_name))
		return err_set(err, ENAMETOOLONG, "write '%.64s...'", output);
	return 0;
}

/* What options ask of each other. */
static int check(const struct record_options *options, struct err *err)
{
	if (check_subject(options, err) < 0)
		return -EINVAL;
	if (options->delay_ns && options->paused)
		return err_set(err, 0,
			       "--delay begins sampling by itself, --paused waits for wick start, "
			       "try: one of them");
	if (check_live(options, err) < 0 || check_symbols(options, err) < 0 ||
	    external_choice_check(&options->external, err) < 0)
		return -EINVAL;
	if (flight_options_check(&options->flight, is_limited(&options->rotate), err) < 0)
		return -EINVAL;
	if (is_limited(&options->keep) && !is_limited(&options->rotate) &&
	    !flight_options_on(&options->flight)) {
		(void)err_set(err, 0,
			      "--keep removes old files of --rotate, and --rotate is not given");
		err_hint(err, "--rotate 60s");
		return -err->code;
	}
	if (options->bare && options->metrics_as == METRICS_AS_INLINE)
		return err_set(err, 0,
			       "--bare writes no metrics, --metrics-as inline does, "
			       "try: one of them");
	if (options->metrics.named & METRICS_OF_ARENAS &&
	    !(options->event_list.events & COLLECT_ALLOC)) {
		(void)err_set(err, 0,
			      "arena_bytes and arena_free_bytes can only be read where memory is "
			      "sampled");
		err_hint(err, "-e cpu,alloc");
		return -err->code;
	}
	return sample_filter_check(&options->filter, options->event_list.events, err);
}

int record_options_parse(int argc, char **argv, struct record_options *ret_options, struct err *err)
{
	struct record_options options = {
		.event_list = {.events = COLLECT_CPU},
		.flush_ns = DEFAULT_FLUSH_NS,
		.discovery = collector_auto_discovery(),
	};
	int r = metric_list_parse("auto", &options.metrics, err);
	int rest;

	flight_options_init(&options.flight);
	budget_options_init(&options.budget);
	rest = r < 0 ? r
		     : option_read(record_option_specs, argc, argv, take_file_option, &options,
				   err);
	if (rest < 0)
		return rest;
	if (!options.hz && (options.attach.all || flight_options_on(&options.flight)))
		budget_options_leave_on(&options.budget);
	if (!options.hz)
		options.hz = DEFAULT_HZ;
	export_options_settle(&options.export);
	options.engine.event = options.event_list.event;
	options.engine.period = options.event_list.period;
	options.external = (struct external_choice){
		.engine = options.engine.choice,
		.events = options.event_list.events,
		.hz = options.hz,
	};
	options.argc = argc - rest;
	options.argv = argv + rest;
	if (!options.help)
		r = take_names_of_gauges(&options, err);
	if (!options.help && r == 0)
		r = take_choice(&options, err);
	if (!options.help && r == 0)
		r = check(&options, err);
	if (!options.help && r == 0)
		r = take_picture(&options, err);
	if (r < 0)
		return r;
	*ret_options = options;
	if (options.picture)
		ret_options->output = ret_options->perf_name;
	return 0;
}
