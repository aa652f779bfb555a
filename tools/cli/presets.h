/*
 * presets.h - options from wick.ini and the environment, put in front of those of a command line
 *
 * A command reads them as if they had been typed.  What was typed wins over the environment, the
 * environment over the user's file, and that over the machine's; an option that may be given
 * several times is taken from the first of these that gives it.
 */
#ifndef CLI_PRESETS_H
#define CLI_PRESETS_H

#include "base/buf.h"
#include "base/err.h"
#include "tools/cli/cmd.h"

#include <stddef.h>

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
 * Where --help is asked for, nothing is read.  A file that others may write is not read, and that
 * is said.
 *
 * Return:  0; -EINVAL and the line that makes no sense; -errno of a file that was asked for.
 * Owns:    CTX's arguments belong to PRESETS then; presets_release() in any case.
 * Context: main thread.
 */
int presets_add(struct presets *presets, const struct command *commands, struct cmd_ctx *ctx,
		struct err *err);

/**
 * presets_release - forget them; no message names them any more
 *
 * Context: main thread.
 */
void presets_release(struct presets *presets);

/**
 * presets_origin - where an argument comes from that nobody typed: "'/etc/wick.ini' line 3"
 * @arg: an element of argv, not a copy
 *
 * Return:  NULL when it was typed.
 * Owns:    the presets.
 * Context: main thread.
 */
const char *presets_origin(const char *arg);

#endif
