/*
 * top_output.h - what CMD reads and writes while `wick top` has the terminal
 *
 * Nothing that CMD writes is lost without a word: it goes to a file, and what came last is shown
 * when CMD has ended.
 */
#ifndef TOP_TOP_OUTPUT_H
#define TOP_TOP_OUTPUT_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

enum { TOP_OUTPUT_PATH = 4096 };

/* Zero it. */
struct top_output {
	char path[TOP_OUTPUT_PATH];
	int file;     /* plus 1; 0: none */
	int saved[3]; /* plus 1; wick's own descriptors 0 to 2 */
	bool made;    /* a file of wick's own, that it keeps small and removes */
};

/**
 * top_output_redirect - descriptors 0 to 2 as CMD is to have them
 * @path: where standard output, and standard error that is a terminal, go; NULL: a file of our own
 *
 * Standard input that is a terminal becomes /dev/null: the keys are wick's.
 *
 * Return:  0; -errno and the reason, and nothing has changed.
 * Context: main thread, before CMD starts.
 */
int top_output_redirect(struct top_output *output, const char *path, struct err *err);

/**
 * top_output_restore - descriptors 0 to 2 as wick had them
 *
 * Context: main thread, once CMD has started.
 */
void top_output_restore(struct top_output *output);

/**
 * top_output_trim - give back the disk that a file of our own takes, but for what came last
 *
 * Context: main thread, now and then.
 */
void top_output_trim(const struct top_output *output);

/**
 * top_output_finish - show what came last, or say where it is
 * @command: CMD, for the message
 * @ended: CMD has ended; else it goes on, and the file stays
 *
 * Context: main thread, when wick no longer has the terminal.
 */
void top_output_finish(struct top_output *output, const char *command, bool ended);

#endif
