/* view_command.h - what the commands that look at recordings have in common: FILE... and options */
#ifndef VIEW_VIEW_COMMAND_H
#define VIEW_VIEW_COMMAND_H

#include "tools/cli/cmd.h"
#include "tools/view/query_options.h"
#include "tools/view/view_input.h"
#include "tools/view/view_output.h"

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
	struct query_options options;
	struct view_input input;
	struct view_output output; /* of -o and --force */
	const char *format;        /* of --format; NULL: none */
	const char *title;         /* of --title; NULL: none */
};

/* What a command does with its own options: 0, -EINVAL and the reason. */
typedef int view_own_option(void *context, int id, const char *value, struct err *err);

/**
 * view_command_read - read a command line: options before, between and behind the files
 * @own: gets what is not common
 *
 * Return:  true: go on; false: *RET_STATUS is the exit status, all has been said.
 * Owns:    what COMMAND has of options points into argv; view_command_release() in any case.
 * Context: main thread.
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

/**
 * view_command_release - forget it
 *
 * Context: main thread.
 */
void view_command_release(struct view_command *command);

/**
 * view_fail - say what went wrong
 *
 * Return:  the exit status that stands for it.
 * Context: main thread.
 */
int view_fail(int error, const struct err *err);

#endif
