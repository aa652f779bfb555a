/* attaching.h - running processes instead of a CMD, for `wick record -p` and `wick top -p` */
#ifndef TARGET_ATTACHING_H
#define TARGET_ATTACHING_H

#include "base/err.h"
#include "tools/options/attach_options.h"
#include "tools/target/engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Set the first members, zero the others; attaching_release() takes any state. */
struct attaching {
	struct collector *collector;
	const struct attach_options *attach;
	const struct external_choice *external;
	bool verbose;                               /* say for how long a thread of each stood */
	void (*attached)(void *context, pid_t pid); /* called for each; may be NULL */
	void *context;
	size_t n;            /* attached processes */
	pid_t pid;           /* of the first of them */
	pid_t namespace_pid; /* of the first with an agent, in its own pid namespace; 0: as here */
	char *comm;          /* of the first */
};

/**
 * attaching_start - begin to sample, and have the processes join that are meant
 *
 * Those that cannot are told of, one line each; the others are sampled.
 *
 * Return:  0: at least one has joined; -errno: none, and the reason.
 * Owns:    COLLECTOR, ATTACH and OUTSIDE outlive it.
 * Context: main thread.
 */
int attaching_start(struct attaching *attaching, struct err *err);

/**
 * attaching_release - forget it; processes stay as they are
 *
 * Context: main thread.
 */
void attaching_release(struct attaching *attaching);

#endif
