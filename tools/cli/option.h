/* option.h - the options of a command: one table for parsing, --help and the man page */
#ifndef CLI_OPTION_H
#define CLI_OPTION_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

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
 * Context: main thread.
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
 * Context: main thread.
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

#endif
