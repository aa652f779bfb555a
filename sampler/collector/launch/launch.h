/* launch.h - starts CMD, with the agent when it takes one */
#ifndef LAUNCH_LAUNCH_H
#define LAUNCH_LAUNCH_H

#include "base/err.h"
#include "sampler/collector/types/options.h"
#include "sampler/collector/types/statistics.h"
#include "sampler/program/program.h"

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

/* Our own limits, raised while we run, and what they were. */
struct launch_limits {
	bool raised;
	struct rlimit files;
	struct rlimit file_size;
};

/* What to start and how. */
struct launch {
	char *const *argv;
	const struct collector_signals *signals;
	const struct launch_limits *limits;
	const char *socket; /* the agent's, and the link to it */
	const char *agent;
	bool alone; /* without them, whatever it is */
};

/* What was started. */
struct launched {
	pid_t pid;
	enum program_kind kind; /* PROGRAM_DYNAMIC: with the agent */
	char path[4096];
};

/**
 * launch_raise_limits - as many files and as large ones as we are allowed
 *
 * Context: main thread.
 */
void launch_raise_limits(struct launch_limits *ret_limits);

/**
 * launch_restore_limits - back to what they were
 *
 * Context: any thread; async-signal-safe.
 */
void launch_restore_limits(const struct launch_limits *limits);

/**
 * launch_start - fork and exec, and wait until the exec has happened
 *
 * Return:  0; -ENOENT: not found; -EACCES, -ENOEXEC and others: cannot be executed.  The child
 *          is gone and waited for on failure.
 * Context: main thread.
 */
int launch_start(const struct launch *launch, struct launched *ret_launched, struct err *err);

#endif
