/* examine.h - questions about a program that nobody has started yet, and about stacks */
#ifndef LAUNCH_EXAMINE_H
#define LAUNCH_EXAMINE_H

#include "base/err.h"

#include <limits.h>

/* What exec would run for a command. */
struct collector_program {
	const char *why;       /* it takes no agent: "static", "setuid", ...; NULL: it takes one */
	char path[PATH_MAX];   /* the file, as PATH gave it */
	char interpreter[256]; /* of a #! script, the last of a chain; "" otherwise */
};

/**
 * collector_examine - look for COMMAND as exec does and see whether it takes an agent
 *
 * Return:  0; -ENOENT: not found; -EACCES and others: cannot be executed; the reason in ERR.
 * Owns:    why is static.
 * Context: any thread.
 */
int collector_examine(const char *command, struct collector_program *ret_program, struct err *err);

/**
 * collector_stop_text - why a stack is incomplete, for people
 * @stop: an index of collector_stats.stops
 *
 * Return:  a few words; "" for a complete stack.
 * Owns:    static.
 * Context: any thread.
 */
const char *collector_stop_text(unsigned stop);

#endif
