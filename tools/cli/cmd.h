/*
 * cmd.h - commands, their options, and what wick.ini puts before them
 *
 * Context: main thread, unless a function says another.
 */
#ifndef CLI_CMD_H
#define CLI_CMD_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum { OPTION_HEADING = 0, OPTION_HELP = 'h', OPTION_LONG_ONLY = 256 };

/* A table ends with a row without name. */
struct option_spec {
	int id;           /* the short option's letter, or OPTION_LONG_ONLY and up */
	const char *name; /* of the long option */
	const char *arg;  /* what the argument is called; NULL: takes none */
	const char *help; /* NULL: not shown: another name of an ID, or another letter of a NAME */
};

/* A row that begins a group of options in the help. */
#define OPTION_GROUP(title)                                                                        \
	{                                                                                          \
		OPTION_HEADING, "", NULL, title                                                    \
	}

/**
 * option_is_shown - whether a row is an option that help, pages and completions show
 *
 * Context: any thread.
 */
bool option_is_shown(const struct option_spec *spec);

/* Where option_next() stands.  Zero it but for the first three. */
struct option_cursor {
	const struct option_spec *specs;
	int argc;
	char **argv;
	const char *value; /* of the option returned last */
	int rest;          /* argv[rest] is the first argument that is no option */
};

/**
 * option_next - the next option on a command line, up to `--` or the first non-option
 *
 * One cursor at a time: getopt_long(3) is underneath.
 *
 * Return:  the option's id; 0 at the end, with cursor->rest set; -EINVAL and the reason.
 * Owns:    cursor->value points into argv.
 */
int option_next(struct option_cursor *cursor, struct err *err);

/* Takes in one option.  Less than 0: something is wrong with VALUE, and ERR says what. */
typedef int option_take(void *context, int id, const char *value, struct err *err);

/**
 * option_read - every option up to `--` or the first non-option
 *
 * A message of TAKE's gets its option's name in front.
 *
 * Return:  argv[it] is the first argument that is no option; -EINVAL and the reason.
 */
int option_read(const struct option_spec *specs, int argc, char **argv, option_take *take,
		void *context, struct err *err);

/**
 * option_blame - put the option that a message is about in front: "--sort: 'x' is not one of ..."
 *
 * Return:  -EINVAL.
 * Context: any thread.
 */
int option_blame(const struct option_spec *specs, int id, struct err *err);

/**
 * option_print - the table as --help shows it, one option a paragraph
 *
 * Context: any thread.
 */
void option_print(const struct option_spec *specs, struct buf *buf);

/**
 * option_nearest - the word of a list that is closest to a misspelt one
 * @words: NULL-terminated
 *
 * Return:  one of WORDS, or NULL when none is near.
 * Context: any thread.
 */
const char *option_nearest(const char *word, const char *const *words);

/* Exit statuses of wick itself; once CMD runs, `wick record` gives CMD's. */
enum wick_exit {
	WICK_OK = 0,
	WICK_FINDINGS = 1, /* doctor found something to fix */
	WICK_USAGE = 2,
	WICK_PERMISSION = 4,
	WICK_IO = 8,
	WICK_BROKEN = 10,   /* diff: a rule of --fail-if is broken */
	WICK_UNJUDGED = 11, /* diff: one cannot be judged */
	WICK_CANNOT_EXECUTE = 126,
	WICK_NOT_FOUND = 127,
	WICK_SIGNAL = 128, /* plus the signal's number */
};

enum { CMD_TEXT_BYTES = 64 * 1024 }; /* of help and the like */

struct command;

/* argv[0] is the command's name. */
struct cmd_ctx {
	const struct command *command;
	const struct command *commands; /* the table, to a row without name */
	int argc;
	char **argv;
};

/* A command that another program runs has neither options nor a function here. */
struct command {
	const char *name;
	const char *summary;  /* one line, for `wick help`; NULL: it is not shown there */
	const char *synopsis; /* what follows the name */
	const struct option_spec *options;
	int (*run)(struct cmd_ctx *ctx);
	const char *examples; /* whole lines, for its help; NULL: none */
	const char *program;  /* the one beside this that runs it; NULL: this one */
};

/* One of the programs that wick consists of. */
struct program {
	const char *name;
	const char *title; /* what it is, a line */
	const struct command *commands;
	/* What the commands of other profilers are here: pairs of a name and a hint, then NULL. */
	const char *const *elsewhere;
};

extern const struct option_spec record_option_specs[];
extern const struct option_spec info_option_specs[];
extern const struct option_spec symbolize_option_specs[];
extern const struct option_spec symbols_option_specs[];
extern const struct option_spec doctor_option_specs[];
extern const struct option_spec top_option_specs[];
extern const struct option_spec completion_option_specs[];
extern const struct option_spec stack_option_specs[];
extern const struct option_spec control_option_specs[];
extern const struct option_spec status_option_specs[];
extern const struct option_spec heatmap_option_specs[];
extern const struct option_spec flamegraph_option_specs[];
extern const struct option_spec report_option_specs[];
extern const struct option_spec convert_option_specs[];
extern const struct option_spec diff_option_specs[];
extern const struct option_spec view_option_specs[];
extern const struct option_spec serve_option_specs[];
extern const struct option_spec tasks_option_specs[];
extern const struct option_spec requests_option_specs[];
extern const struct option_spec tiers_option_specs[];

/**
 * cmd_record - start a program and record it
 *
 * Return:  the exit status of wick.
 * Context: main thread, as for every command.
 */
int cmd_record(struct cmd_ctx *ctx);

/**
 * cmd_info - say what is in recordings
 *
 * Return:  the exit status of wick.
 */
int cmd_info(struct cmd_ctx *ctx);

/**
 * cmd_symbolize - name the frames that a recording left as module+offset
 *
 * Return:  the exit status of wick.
 */
int cmd_symbolize(struct cmd_ctx *ctx);

/**
 * cmd_symbols - list, fill and empty the names that are kept on disk
 *
 * Return:  the exit status of wick.
 */
int cmd_symbols(struct cmd_ctx *ctx);

/**
 * cmd_doctor - check what can keep a recording from being good, and say the fix
 *
 * Return:  the exit status of wick.
 */
int cmd_doctor(struct cmd_ctx *ctx);

/**
 * cmd_stack - show what every thread of a process is doing now
 *
 * Return:  the exit status of wick.
 */
int cmd_stack(struct cmd_ctx *ctx);

/**
 * cmd_completion - print a script with which a shell completes command lines of wick
 *
 * Return:  the exit status of wick.
 */
int cmd_completion(struct cmd_ctx *ctx);

/**
 * cmd_top - show what a program does now, until the user quits
 *
 * Return:  the exit status of wick.
 */
int cmd_top(struct cmd_ctx *ctx);

/**
 * cmd_start - have a paused recording take samples again
 *
 * Return:  the exit status of wick.
 */
int cmd_start(struct cmd_ctx *ctx);

/**
 * cmd_stop - have a recording pause
 *
 * Return:  the exit status of wick.
 */
int cmd_stop(struct cmd_ctx *ctx);

/**
 * cmd_status - say how a recording is going, or all that run
 *
 * Return:  the exit status of wick.
 */
int cmd_status(struct cmd_ctx *ctx);

/**
 * cmd_rate - give a recording another rate
 *
 * Return:  the exit status of wick.
 */
int cmd_rate(struct cmd_ctx *ctx);

/**
 * cmd_flush - have a recording write what it has
 *
 * Return:  the exit status of wick.
 */
int cmd_flush(struct cmd_ctx *ctx);

/**
 * cmd_split - have a recording begin another file
 *
 * Return:  the exit status of wick.
 */
int cmd_split(struct cmd_ctx *ctx);

/**
 * cmd_diff - compare two recordings, or two times of one
 *
 * Return:  the exit status of wick; WICK_BROKEN or WICK_UNJUDGED with --fail-if.
 */
int cmd_diff(struct cmd_ctx *ctx);

/**
 * cmd_convert - write recordings in the formats of other programs
 *
 * Return:  the exit status of wick.
 */
int cmd_convert(struct cmd_ctx *ctx);

/**
 * cmd_view - write recordings as one page, and open it
 *
 * Return:  the exit status of wick.
 */
int cmd_view(struct cmd_ctx *ctx);

/**
 * cmd_serve - serve a folder of recordings until a signal ends it
 *
 * Return:  the exit status of wick.
 */
int cmd_serve(struct cmd_ctx *ctx);

/**
 * cmd_tasks - exact counts of tasks and functions
 *
 * Return:  the exit status of wick.
 */
int cmd_tasks(struct cmd_ctx *ctx);

/**
 * cmd_requests - exact counts of requests
 *
 * Return:  the exit status of wick.
 */
int cmd_requests(struct cmd_ctx *ctx);

/**
 * cmd_tiers - exact counts of tiers
 *
 * Return:  the exit status of wick.
 */
int cmd_tiers(struct cmd_ctx *ctx);

/**
 * cmd_heatmap - draw how much is done in which moment
 *
 * Return:  the exit status of wick.
 */
int cmd_heatmap(struct cmd_ctx *ctx);

/**
 * cmd_flamegraph - draw call paths and their cost
 *
 * Return:  the exit status of wick.
 */
int cmd_flamegraph(struct cmd_ctx *ctx);

/**
 * cmd_report - list the most expensive functions and their callers
 *
 * Return:  the exit status of wick.
 */
int cmd_report(struct cmd_ctx *ctx);

/**
 * program_main - run the command that a command line names, or the program that has it
 *
 * Return:  the exit status.
 * Context: main thread, with the arguments of main().
 */
int program_main(const struct program *program, int argc, char **argv);

/**
 * program_exec - let a program beside this one take this one's place
 * @argv: from the command's name on, to NULL
 *
 * Return:  not at all; WICK_NOT_FOUND or WICK_CANNOT_EXECUTE, and has said why.
 */
int program_exec(const char *name, char **argv);

/**
 * program_run - run a program beside this one and wait for its end
 * @argv: from the command's name on, to NULL
 * @output: what it prints, added; NULL: it prints where this one does
 *
 * Return:  its exit status; WICK_NOT_FOUND or WICK_CANNOT_EXECUTE, and has said why.
 */
int program_run(const char *name, char **argv, struct buf *output);

/* Commands by which one program of wick runs another; users do not type them. */
#define COMPLETION_ROWS  "completion-rows"
#define EXPLAIN_TRIGGERS "explain-triggers"

/**
 * cmd_completion_rows - what a completion script says of this program's commands
 *
 * argv[1] is the shell.
 *
 * Return:  the exit status of wick.
 */
int cmd_completion_rows(struct cmd_ctx *ctx);

/**
 * cmd_explain_triggers - say when triggers would have fired in recordings, for `wick doctor`
 *
 * argv: conditions, "--", files.
 *
 * Return:  the exit status of wick.
 */
int cmd_explain_triggers(struct cmd_ctx *ctx);

/**
 * cmd_help_of - `help [COMMAND]`: explain one command, or name all
 *
 * Return:  the exit status of wick.
 */
int cmd_help_of(struct cmd_ctx *ctx);

/**
 * cmd_help - print the help of one command on stdout
 *
 * Return:  the exit status of wick.
 */
int cmd_help(const struct command *command);

/**
 * cmd_print - print a result on stdout and release it
 *
 * Return:  the exit status of wick: WICK_OK, also when the reader has gone; WICK_IO.
 */
int cmd_print(struct buf *text);

/**
 * cmd_exit_of - the exit status for a failure before CMD has started
 * @error: negative errno
 *
 * Context: any thread.
 */
int cmd_exit_of(int error);

/**
 * cmd_exit_of_wait - the exit status that stands for a wait status, as shells have it
 *
 * Context: any thread.
 */
int cmd_exit_of_wait(int wait_status);

/* One `key = value`.  Views of the text. */
struct ini_entry {
	const char *section;
	const char *key;
	const char *value; /* without blanks around it, and without the quotes around it */
	unsigned line;
};

/* What is done with an entry: 0; -EINVAL and what is wrong, without file and line. */
typedef int ini_take(void *context, const struct ini_entry *entry, struct err *err);

/**
 * ini_read - every entry of a text, in order
 * @name: of the file, for messages
 * @text: NUL-terminated; is cut into its lines
 *
 * Lines that begin with # or ; say nothing; within a line they are part of the value.
 *
 * Return:  0; -EINVAL and the reason with its line: no section, no `key = value`, or TAKE's.
 * Context: any thread.
 */
int ini_read(const char *name, char *text, ini_take *take, void *context, struct err *err);

struct preset;

/* Zero it. */
struct presets {
	const struct command *commands; /* all of them: the whole file is checked */
	const struct command *command;
	struct preset *at;
	size_t n;
	char **argv;      /* what the command reads */
	const char *path; /* of the file that is being read */
	int rank;         /* which of the sources is being read */
};

/**
 * presets_add - put what the files and the environment say in front of CTX's arguments
 * @commands: the table of commands, to a row without name
 *
 * Where --help is requested, nothing is read.  A file that others may write is not read, and that
 * is said.
 *
 * Return:  0; -EINVAL and the line that makes no sense; -errno of a file that was requested.
 * Owns:    CTX's arguments belong to PRESETS then; presets_release() in any case.
 */
int presets_add(struct presets *presets, const struct command *commands, struct cmd_ctx *ctx,
		struct err *err);

/** presets_release - forget them; no message names them any more */
void presets_release(struct presets *presets);

/**
 * presets_origin - where an argument comes from that is not on the command line: "'/etc/wick.ini'
 * line 3"
 * @arg: an element of argv, not a copy
 *
 * Return:  NULL when it was typed.
 * Owns:    the presets.
 */
const char *presets_origin(const char *arg);

#endif
