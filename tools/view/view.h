/*
 * view.h - what the commands of the viewer share
 *
 * Context: main thread, unless a function says another.
 */
#ifndef VIEW_VIEW_H
#define VIEW_VIEW_H

#include "base/buf.h"
#include "base/err.h"
#include "flamescope/query/query.h"
#include "flamescope/serve/serve.h"
#include "tools/cli/cmd.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * view_error_files - say what could not be read, was passed over, or was lost
 *
 * Of many files the first ones are named, and all are counted.
 */
void view_error_files(const struct profile *profile);

/**
 * view_error_hint - part of a message: what to do about a file that could not be read, or was no
 * recording
 *
 * Nothing is added where the message says it already.
 *
 * Context: any thread.
 */
void view_error_hint(const char *path, struct err *err);

/**
 * view_error_empty - why there is no sample at all
 *
 * Return:  -ENODATA, with what to do; -EACCES: no file may be read.
 */
int view_error_empty(const struct profile *profile, struct err *err);

/**
 * view_error_nothing_left - why a query leaves nothing
 *
 * Return:  -ENODATA, with what there is.
 */
int view_error_nothing_left(const struct profile *profile, const struct selection *selection,
			    const struct query *query, struct err *err);

/** view_error_selection - say that values or names are missing */
void view_error_selection(const struct selection *selection, const struct query *query);

/** view_error_weights - say that a bare text of wick has lost what its weights stand for */
void view_error_weights(const struct selection *selection, const struct query *query);

enum { VIEW_INPUT_MAX_FILES = 100000 };

/* Zero it. */
struct view_input {
	char **paths; /* of files; directories have been replaced by what is in them */
	size_t n_paths;
	size_t room;
	const char *prefix; /* of names in directories; NULL: any recording */
	bool no_index;
};

/**
 * view_input_add - a file or a directory, as the command line has it
 *
 * Of a directory all recordings are taken (*.perf, *.folded, and those compressed with .gz or
 * .zst), or with a prefix all files whose names begin with it, sorted by name.
 *
 * Return:  0; -ENOENT when a directory has none; -E2BIG; -ENOMEM; -errno, with the reason.
 */
int view_input_add(struct view_input *input, const char *path, struct err *err);

/**
 * view_input_add_newest - without a file given: the newest recording of this folder, which is said
 * @verb:  of the command, for what to do where there is none
 * @pipes: it can read what is piped in
 *
 * Where something is piped in nothing is taken: it may be meant.
 *
 * Return:  0; -EINVAL and what to do; -ENOMEM.
 */
int view_input_add_newest(struct view_input *input, const char *verb, bool pipes, struct err *err);

/**
 * view_input_load - all of them as one profile
 *
 * Shows progress on a terminal.  What could not be read, lines that were passed over and what the
 * recorder lost is said on stderr; the rest still counts.
 *
 * Return:  0; -ENODATA and what to do when there is no sample at all; -EACCES: no file may be
 *          read; as load_profile().
 * Owns:    the caller, to profile_free().
 */
int view_input_load(const struct view_input *input, struct profile **ret_profile, struct err *err);

/**
 * view_input_select - what a query leaves of a profile
 *
 * What has no value of the metric, and that names are missing, is said on stderr.
 *
 * Return:  0; -ENODATA and what to do when nothing is left; as selection_make().
 * Owns:    the caller, to selection_free().
 */
int view_input_select(const struct profile *profile, const struct query *query,
		      struct selection **ret_selection, struct err *err);

/**
 * view_input_holds - whether a path is one of the files, by whatever name
 *
 * Context: any thread.
 */
bool view_input_holds(const struct view_input *input, const char *path);

/**
 * view_input_title - what a picture of it is called: the command, or the file's name
 * @profile: NULL: not the command, which may be the same of several
 *
 * Owns:    the caller: free(); NULL when memory is short.
 * Context: any thread.
 */
char *view_input_title(const struct view_input *input, const struct profile *profile);

/**
 * view_input_release - forget the names
 *
 * Context: any thread.
 */
void view_input_release(struct view_input *input);

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
		 "use only stacks with a matching frame; if repeated, all must match. "            \
		 "LABEL=RE (tier=db): same as --where"},                                           \
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
		 "state, wait, on..., labels of the program (task, tier, identity, trace, req, "   \
		 "function...), METRIC:class (magnitude: 100s MiB), sign (gain or loss, with "     \
		 "--metric NAME:delta)"},                                                          \
	{                                                                                          \
		QUERY_OPT_METRIC, "metric", "NAME",                                                \
			"what to count: samples, period (the time or bytes that each sample "      \
			"stands for), a metric, or NAME:mean, NAME:delta, NAME:gain, NAME:loss"    \
	}

/**
 * query_option_take - what one option adds to a query
 * @id: as option_next() returned it
 *
 * Return:  1; 0 when the option is none of these; else as query_words_take().
 */
int query_option_take(struct query_words *words, int id, const char *value, struct err *err);

/* What the end of a name says. */
enum view_format {
	VIEW_NONE, /* no -o and no --format: the terminal */
	VIEW_TXT,
	VIEW_CSV,
	VIEW_JSON,
	VIEW_MD,
	VIEW_SVG,
	VIEW_HTML,
	VIEW_FOLDED,
	VIEW_PPROF,      /* .pb.gz, .pprof */
	VIEW_SPEEDSCOPE, /* .speedscope.json */
	VIEW_FIREFOX,    /* .firefox.json.gz, .firefox.json */
	VIEW_PERF,       /* .perf, .perf.gz */
};

/**
 * view_format_of - the format of a file's name
 *
 * Return:  VIEW_NONE when the end says nothing.
 * Context: any thread.
 */
enum view_format view_format_of(const char *path);

/**
 * view_format_named - the format by its name: "md", "json", "csv", "txt", "svg", "html"...
 *
 * Return:  VIEW_NONE: there is none of that name.
 * Context: any thread.
 */
enum view_format view_format_named(const char *name);

enum { VIEW_OUTPUT_INPUTS = 2 };

/* Where a command writes.  Zero it. */
struct view_output {
	const char *path; /* NULL or "-": stdout, whose reader may go away */
	bool force;       /* a file that is there is replaced */
	const struct view_input *inputs[VIEW_OUTPUT_INPUTS]; /* the recordings that it is made of */
};

/* A file that is not there until it is whole. */
struct view_file {
	int fd;
	bool force;
	char *path;
	char *temporary; /* NULL: nameless */
	bool nameless;   /* until it is whole */
};

/**
 * view_output_check - whether it may be written, before there is anything to write
 *
 * Return:  0; -EEXIST: a file is there that is to stay, or a link, pipe or device; -EISDIR.
 */
int view_output_check(const struct view_output *output, struct err *err);

/**
 * view_file_open - begin to write a file
 *
 * Only users who may read all its recordings may read it: its mode is rw-rw-rw- without the bits
 * that the umask or one of their modes lacks.
 *
 * Return:  0; as view_output_check(); -errno of open, with the reason.
 * Owns:    the caller: view_file_close() or view_file_drop().
 */
int view_file_open(struct view_file *file, const struct view_output *output, struct err *err);

/**
 * view_file_close - the file is whole: let it appear
 *
 * Return:  0; -EEXIST: another one has appeared meanwhile; -errno, with the reason.
 */
int view_file_close(struct view_file *file, struct err *err);

/** view_file_drop - it never was */
void view_file_drop(struct view_file *file);

/* Writes all there is into FD: 0, or -errno and the reason. */
typedef int view_writer(void *context, int fd, struct err *err);

/**
 * view_output_make - let WRITE fill a file that is not there until it is whole, or stdout
 *
 * Return:  0; as view_file_open() and view_file_close(); what WRITE said.
 */
int view_output_make(const struct view_output *output, view_writer *write, void *context,
		     struct err *err);

/**
 * view_output_write - TEXT to a file, or to stdout
 *
 * Return:  0; -EFBIG when TEXT had outgrown its limit; as view_output_make().
 */
int view_output_write(const struct view_output *output, struct buf *text, struct err *err);

enum view_option {
	VIEW_OPT_PREFIX = QUERY_OPT_END,
	VIEW_OPT_NO_INDEX,
	VIEW_OPT_FORMAT,
	VIEW_OPT_TITLE,
	VIEW_OPT_END,
};

/* Rows of a command's option table: the last ones before the end. */
#define VIEW_INPUT_SPECS                                                                           \
	{'i', "input", "FILE", NULL}, /* as perf has it */                                         \
		{VIEW_OPT_PREFIX, "prefix", "TEXT",                                                \
		 "in a directory, use only files whose names start with TEXT"},                    \
	{                                                                                          \
		VIEW_OPT_NO_INDEX, "no-index", NULL,                                               \
			"do not use or write the index that makes later starts faster"             \
	}
#define VIEW_OUTPUT_SPEC(help)                                                                     \
	{'o', "output", "FILE", help},                                                             \
	{                                                                                          \
		'f', "force", NULL, "replace the output file if it exists"                         \
	}
#define VIEW_FORMAT_SPEC(help)                                                                     \
	{                                                                                          \
		VIEW_OPT_FORMAT, "format", "NAME", help                                            \
	}
#define VIEW_TITLE_SPEC(help)                                                                      \
	{                                                                                          \
		VIEW_OPT_TITLE, "title", "TEXT", help                                              \
	}

/* Zero it. */
struct view_command {
	struct query_words words;
	struct view_input input; /* all of the command line */
	size_t *ends;            /* of each FILE of it: how many of the paths are up to there */
	size_t n_ends;
	struct view_output output; /* of -o and --force */
	const char *format;        /* of --format; NULL: none */
	const char *title;         /* of --title; NULL: none */
};

/* What a command does with its own options: 0, -EINVAL and the reason. */
typedef int view_own_option(void *context, int id, const char *value, struct err *err);

/**
 * view_command_read - read a command line: options before, between and after the files
 * @own: gets what is not common
 *
 * Return:  true: go on; false: *RET_STATUS is the exit status, all has been said.
 * Owns:    what COMMAND has of options points into argv; view_command_release() in any case.
 */
bool view_command_read(struct view_command *command, struct cmd_ctx *ctx, view_own_option *own,
		       void *context, int *ret_status);

/**
 * view_command_format - what is to be written: as --format says, or the end of -o's name
 * @formats: those that the command writes, up to VIEW_NONE
 *
 * Return:  0, and VIEW_NONE without either of them; -EINVAL and those that there are.
 * Context: any thread.
 */
int view_command_format(const struct view_command *command, const enum view_format *formats,
			enum view_format *ret_format, struct err *err);

/** view_command_release - forget it */
void view_command_release(struct view_command *command);

/**
 * view_fail - say what went wrong
 *
 * Return:  the exit status that stands for it.
 */
int view_fail(int error, const struct err *err);

/**
 * view_state_words - `time=10-20&where=state=running&group=thread`, percent-encoded
 *
 * Patterns are those that the query holds: rules of a file are in it as expressions.
 *
 * Context: any thread.
 */
void view_state_words(const struct query *query, struct buf *buf);

/**
 * view_state_ranges - the ranges of time of a query, each as a word of this name
 *
 * `time` are those that are seen, `b` those that they are compared with.
 *
 * Context: any thread.
 */
void view_state_ranges(struct buf *buf, const char *name, const struct query *query);

/**
 * view_state_add - one more of these words: `&NAME=VALUE`
 *
 * Context: any thread.
 */
void view_state_add(struct buf *buf, const char *name, const char *value);

/* Zero it. */
struct view_subject {
	struct view_command command;
	enum view_format format; /* VIEW_NONE: for the terminal */
	char *title;
	struct profile *profile;
	struct selection *selection;
};

/* What a command makes of its subject; CONTEXT is the command's own, as for view_own_option. */
struct view_verb {
	const enum view_format *formats; /* that it writes, up to VIEW_NONE */
	view_own_option *own;
	int (*draw)(void *context, struct buf *text, struct err *err);
	int (*state)(void *context, struct buf *words, struct err *err); /* what the page shows */
};

/**
 * view_subject_run - all of such a command: read the command line, load, draw, write
 *
 * The format is checked first: a name that no file could have is an error before anything is read.
 * The page draws by itself: it holds the recordings, the query, and what STATE adds to its words.
 *
 * Return:  the exit status; all has been said.
 * Owns:    nothing is left of SUBJECT.
 */
int view_subject_run(struct view_subject *subject, const struct view_verb *verb, void *context,
		     struct cmd_ctx *ctx);

/**
 * view_page_write - a page to a file, or to stdout
 *
 * Return:  0; as view_output_make() and page_write().
 */
int view_page_write(const struct view_output *output, struct page *page, struct err *err);

/**
 * view_number - a whole number that an option takes
 *
 * Return:  0; -EINVAL, naming the option.
 * Context: any thread.
 */
int view_number(const char *option, const char *text, uint32_t least, uint32_t most,
		uint32_t *ret_number, struct err *err);

/**
 * view_percent - a part of the whole, given in percent with or without the sign, as 0 to 1
 *
 * Return:  0; -EINVAL, naming the option.
 * Context: any thread.
 */
int view_percent(const char *option, const char *text, double *ret_part, struct err *err);

struct flame_function;
struct function_table;

/* What each thread, state or module of a selection takes.  Zero it. */
struct report_parts {
	struct dimension dimension;
	const char **labels;
	struct flame_function *rows; /* frame: the number of the label; one more than labels */
	size_t n;                    /* rows that have samples */
	size_t n_labels;
	char others_label[40];
};

/**
 * report_parts_make - the parts of a selection, the one that takes most first
 * @name: a dimension, or "module": where the innermost frame is that is no inlined call
 *
 * Return:  0; -ENOENT and which dimensions there are; -ENOMEM.
 * Owns:    the caller, to report_parts_release() in any case; the selection has to outlive it.
 */
int report_parts_make(struct report_parts *parts, const struct selection *selection,
		      const char *name, struct err *err);

/**
 * report_parts_others - the parts after the first N_SHOWN as one, for a table
 *
 * Return:  them; NULL: there are no others.
 * Owns:    the parts.
 */
const struct flame_function *report_parts_others(struct report_parts *parts, size_t n_shown);

/** report_parts_csv - exact numbers, a line a part */
void report_parts_csv(struct buf *buf, const struct function_table *table);

/** report_parts_json - members "measure", "unit", "total", "by", "parts", "others" of an open
 * object */
void report_parts_json(struct buf *buf, const struct function_table *table);

/** report_parts_release - forget them */
void report_parts_release(struct report_parts *parts);

#endif
