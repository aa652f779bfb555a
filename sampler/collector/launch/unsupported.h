/* unsupported.h - the programs that were run and take no agent */
#ifndef LAUNCH_UNSUPPORTED_H
#define LAUNCH_UNSUPPORTED_H

#include "sampler/program/program.h"
#include "sampler/wire/handshake.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	MAX_UNSUPPORTED = 256,
};

struct unsampled {
	pid_t pid; /* the first */
	enum program_kind kind;
	uint64_t count;
	char path[WIRE_PATH_BYTES];
};

/* Zero is an empty one.  What comes after MAX_UNSUPPORTED different ones is only counted. */
struct unsupported_list {
	struct unsampled at[MAX_UNSUPPORTED];
	size_t n;
	uint64_t count; /* of all */
};

/**
 * unsupported_add - one more run of a program
 *
 * Context: collector thread.
 */
void unsupported_add(struct unsupported_list *list, pid_t pid, const char *path,
		     enum program_kind kind);

/**
 * unsupported_why - the reason as a word
 *
 * Return:  NULL for a kind that is no reason.
 * Owns:    static.
 * Context: any thread.
 */
const char *unsupported_why(enum program_kind kind);

#endif
