/* completion.h - what shells offer behind `wick`, made from the tables of commands and options */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include "base/buf.h"
#include "tools/cli/cmd.h"

#include <stdbool.h>

/* What an argument can be, for a shell. */
enum completion_kind {
	COMPLETE_NOTHING,
	COMPLETE_FILE,
	COMPLETE_FOLDER,
	COMPLETE_PID,
	COMPLETE_WORDS, /* one of a few */
};

/**
 * completion_of_option - what can stand behind an option that takes an argument
 * @ret_words: COMPLETE_WORDS: blanks between them
 *
 * Owns:    static.
 * Context: any thread, as for all of these.
 */
enum completion_kind completion_of_option(const struct command *command,
					  const struct option_spec *spec, const char **ret_words);

/**
 * completion_words - what can stand behind a command that is neither file nor program
 *
 * Return:  words with blanks between them; NULL: none.  @COMMANDS stands for all commands.
 * Owns:    static.
 * Context: any thread.
 */
const char *completion_words(const struct command *command);

/**
 * completion_runs - whether a program and its arguments stand behind a command
 *
 * Context: any thread.
 */
bool completion_runs(const struct command *command);

/**
 * completion_bash_row - what the script for bash says of one command
 * @commands: the table, to a row without name
 *
 * Context: any thread.
 */
void completion_bash_row(struct buf *buf, const struct command *command,
			 const struct command *commands);

/**
 * completion_bash - the script for bash
 * @commands: the table, to a row without name
 * @rows:     what completion_bash_row() says of each
 *
 * Context: any thread.
 */
void completion_bash(struct buf *buf, const struct command *commands, const char *rows);

/**
 * completion_zsh_row - the same for zsh
 *
 * Context: any thread.
 */
void completion_zsh_row(struct buf *buf, const struct command *command,
			const struct command *commands);

/**
 * completion_zsh - the script for zsh
 *
 * Context: any thread.
 */
void completion_zsh(struct buf *buf, const struct command *commands, const char *rows);

/**
 * completion_fish_row - the same for fish
 *
 * Context: any thread.
 */
void completion_fish_row(struct buf *buf, const struct command *command,
			 const struct command *commands);

/**
 * completion_fish - the script for fish
 *
 * Context: any thread.
 */
void completion_fish(struct buf *buf, const struct command *commands, const char *rows);

#endif
