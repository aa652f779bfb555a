/*
 * options.h - options that several commands take
 *
 * Context: main thread, unless a function says another.
 */
#ifndef OPTIONS_OPTIONS_H
#define OPTIONS_OPTIONS_H

#include "base/err.h"
#include "base/sample.h"
#include "sampler/collector/collector.h"
#include "symbolize/symbolize.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Ids of the options that have no letter, beside each command's own. */
enum { OPT_COMM = 1100, OPT_SIGNAL, OPT_NO_CHILDREN };

enum { ATTACH_MAX_PIDS = 1024, ATTACH_COMM_BYTES = 64 };

struct attach_options {
	pid_t pids[ATTACH_MAX_PIDS];
	size_t n_pids;
	const char *comm; /* a regular expression; NULL: by pid alone */
	bool all;         /* those that are chosen among all processes, again and again */
	bool no_children; /* theirs, or those of CMD, are left out */
	int signal;       /* that samples come by; 0: SIGURG, or another where that is taken */
};

/* Rows of an option table; -a is a row of wick record's own. */
#define ATTACH_OPTION_SPECS                                                                        \
	{'p', "pid", "LIST", "attach to these running processes instead of starting CMD"},         \
		{OPT_COMM, "comm", "REGEX", "attach to the processes whose name matches"},         \
		{OPT_NO_CHILDREN, "no-children", NULL, "do not follow child processes"},           \
	{                                                                                          \
		OPT_SIGNAL, "signal", "NAME",                                                      \
			"sampling signal, for programs that use SIGURG themselves (default: URG)"  \
	}

/**
 * attach_options_take - take in one of the options above
 *
 * Return:  1; 0: it is none of them; -EINVAL and the reason.
 * Owns:    VALUE outlives the options.
 */
int attach_options_take(int id, const char *value, struct attach_options *options, struct err *err);

/**
 * attach_options_given - whether processes are to be attached to, rather than a command started
 *
 * Context: any thread.
 */
bool attach_options_given(const struct attach_options *options);

/**
 * attach_options_comm - what a process is called now
 *
 * Return:  false: it is not there, or has no name.
 * Context: any thread.
 */
bool attach_options_comm(pid_t pid, char ret_comm[static ATTACH_COMM_BYTES]);

/**
 * attach_options_hint - what to do about a command that is not there: a process may be meant
 * @err: what was said of it; what has a hint stays as it is
 */
void attach_options_hint(const char *command, struct err *err);

/**
 * attach_options_find - the processes that are meant
 * @ret_pids: room for ATTACH_MAX_PIDS; without doubles, in the order of the command line
 *
 * By name: all that may be traced, but this one and threads of the kernel.
 *
 * Return:  0; -ESRCH: there are none; -errno.  The reason is in ERR.
 */
int attach_options_find(const struct attach_options *options, pid_t *ret_pids, size_t *ret_n,
			struct err *err);

/* Ids of the options, beside the command's own. */
enum {
	OPT_MAX_OVERHEAD = 1400,
	OPT_MAX_COLLECTOR_CPU,
	OPT_MEM_LIMIT,
	OPT_BREAKER,
};

/* Rows of an option table; OTHERWISE is what holds where the option is not given. */
#define MAX_OVERHEAD_OPTION_SPEC(otherwise)                                                        \
	{                                                                                          \
		OPT_MAX_OVERHEAD, "max-overhead", "PCT",                                           \
			"lower the rate when sampling costs the program more than PCT of its "     \
			"CPU; or off (default: " otherwise ")"                                     \
	}
#define BUDGET_OPTION_SPECS                                                                        \
	{OPT_MAX_COLLECTOR_CPU, "max-collector-cpu", "PCT",                                        \
	 "lower the rate when wick itself uses more than PCT of one CPU; or off (default: off)"},  \
		{OPT_MEM_LIMIT, "mem-limit", "SIZE",                                               \
		 "limit wick's own memory: queued samples, ring buffers and names (default: 512M " \
		 "for names)"},                                                                    \
	{                                                                                          \
		OPT_BREAKER, "breaker", "LATE:PAUSE",                                              \
			"when wick lags behind by LATE, take no samples for PAUSE; or off "        \
			"(default: 5s:5s)"                                                         \
	}

struct budget_options {
	bool given;                 /* a limit of the program's cost, or off */
	uint32_t max_overhead_ppm;  /* of the program's CPU; 0: it may cost any */
	uint32_t max_collector_ppm; /* of one processor; 0: wick may use any */
	uint64_t mem_limit;         /* bytes; 0: none */
	uint64_t breaker_late_ns;   /* 0: no breaker */
	uint64_t breaker_pause_ns;
};

/**
 * budget_options_init - what holds unless something else is requested
 *
 * Context: any thread.
 */
void budget_options_init(struct budget_options *ret_options);

/**
 * budget_options_leave_on - what holds for a recording that is left on, unless one was given
 *
 * Context: any thread.
 */
void budget_options_leave_on(struct budget_options *options);

/**
 * budget_options_take - take in one of the options above
 *
 * Return:  1; 0: it is none of them; -EINVAL and the reason.
 */
int budget_options_take(int id, const char *value, struct budget_options *options, struct err *err);

/** budget_options_pass - the same for the collector */
void budget_options_pass(const struct budget_options *options, struct collector_options *to);

enum engine_choice { ENGINE_AUTO, ENGINE_CTIMER, ENGINE_PERF, ENGINE_PTRACE };

struct engine_options {
	enum engine_choice choice;
	bool kernel;            /* record kernel frames, too */
	struct perf_name event; /* "" none: CPU */
	uint64_t period;        /* of the event: each Nth; 0: as many as give the rate */
};

/* Ids of the options, beside the command's own. */
enum { OPT_ENGINE = 3072, OPT_KERNEL };

/* Their rows of the table. */
#define ENGINE_OPTION_SPECS                                                                        \
	{OPT_ENGINE, "engine", "HOW",                                                              \
	 "ctimer, perf, ptrace or auto (default: auto, which is ctimer; perf for rates above the " \
	 "kernel's tick; ptrace for programs that cannot load the agent)"},                        \
	{                                                                                          \
		OPT_KERNEL, "kernel", NULL,                                                        \
			"record kernel frames as well, if the system permits it"                   \
	}

/**
 * engine_options_take - take in one of the options above
 *
 * Return:  1; 0: it is none of them; -EINVAL and the reason.
 */
int engine_options_take(int id, const char *value, struct engine_options *options, struct err *err);

struct event_list {
	uint32_t events;        /* COLLECT_* */
	uint64_t alloc_bytes;   /* alloc=SIZE, or the default */
	uint64_t lock_ns;       /* lock=DUR, or the default */
	struct perf_name event; /* COLLECT_COUNT, or a clock of perf's; "" none */
	uint64_t period;        /* page-faults=N: each Nth; 0: as many as give the rate */
};

/**
 * event_list_parse - "cpu,alloc=64K,lock=1ms", "page-faults=100"
 *
 * Return:  0; -EINVAL and the reason.
 * Context: any thread.
 */
int event_list_parse(const char *text, struct event_list *ret_list, struct err *err);

struct metric_list {
	uint32_t mask;  /* of the columns to write: enum metric_id, then the gauges */
	uint32_t named; /* of these, metrics of the catalogue that were requested by name */
	size_t n_gauges;
	char gauges[METRIC_MAX_GAUGES][METRIC_NAME_SIZE];
	enum metric_kind kinds[METRIC_MAX_GAUGES];
};

/* A list made ready to be given away: the views point into the list. */
struct metric_columns {
	struct metric metrics[SAMPLE_MAX_METRICS];
	size_t n;
	const char *gauges[METRIC_MAX_GAUGES];
};

/**
 * metric_list_parse - "none", or names with commas
 *
 * A name that is not in the catalogue is a gauge that the program registers (include/wick.h);
 * NAME:counter is one that only grows.  "auto" and "all" (of the catalogue) can be among the names.
 *
 * Return:  0; -EINVAL and the reason, naming the name.
 * Context: any thread.
 */
int metric_list_parse(const char *text, struct metric_list *ret_list, struct err *err);

/**
 * metric_list_nearest - the metric that a gauge's name may be a misspelling of
 *
 * Return:  its name, static; NULL when none is near.
 * Context: any thread.
 */
const char *metric_list_nearest(const char *gauge);

/**
 * metric_list_columns - every column there is, wanted or not
 *
 * Owns:    the views are LIST's.
 * Context: any thread.
 */
void metric_list_columns(const struct metric_list *list, struct metric_columns *ret_columns);

/* Ids of the options, beside each command's own. */
enum {
	OPT_NO_INLINE = 1024,
	OPT_SRCLINE,
	OPT_FULL_NAMES,
	OPT_SYMBOL_DIR,
	OPT_DEBUGINFOD,
	OPT_NO_CACHE,
	OPT_NO_SYMBOLS,
};

enum { SYMBOL_OPTIONS_MAX_DIRS = 64 };

/* Rows of an option table, for every command that names what runs. */
#define SYMBOL_OPTION_SPECS                                                                        \
	{OPT_NO_INLINE, "no-inline", NULL, "leave inlined calls out of the stacks"},               \
		{OPT_FULL_NAMES, "full-names", NULL,                                               \
		 "show C++ and Rust names with their parameters"},                                 \
		{OPT_SYMBOL_DIR, "symbol-dir", "DIR",                                              \
		 "look for debug files in DIR, by build-id or name; may be repeated"},             \
		{OPT_DEBUGINFOD, "debuginfod", NULL,                                               \
		 "download debug files from the servers in $DEBUGINFOD_URLS, for at most 5s"},     \
	{                                                                                          \
		OPT_NO_CACHE, "no-cache", NULL, "do not use the symbol cache on disk"              \
	}

struct symbol_options {
	bool no_inline;
	bool srcline; /* write files and lines */
	bool full_names;
	bool debuginfod;
	bool no_cache;
	bool no_symbols;
	const char *dirs[SYMBOL_OPTIONS_MAX_DIRS];
	size_t n_dirs;
};

/**
 * symbol_options_take - take in one of the options above
 *
 * Return:  1; 0: it is none of them; -EINVAL and the reason.
 * Owns:    VALUE outlives the options.
 */
int symbol_options_take(int id, const char *value, struct symbol_options *options, struct err *err);

/**
 * symbol_options_pass - the same for the symbolizer
 *
 * Owns:    OPTIONS outlives the symbolizer.
 */
void symbol_options_pass(const struct symbol_options *options, struct symbolize_options *to);

/**
 * symbol_options_start - symbolizer_new(), and a word to the user when no names will be kept
 *
 * Return:  0; -errno.
 * Owns:    the caller, to symbolizer_free().
 */
int symbol_options_start(const struct symbolize_options *options,
			 struct symbolizer **ret_symbolizer, struct err *err);

/** symbol_options_tell_mangled - a word to the user when names could not be demangled */
void symbol_options_tell_mangled(void);

#endif
