/*
 * launch.h - finds and starts CMD, with the agent when it takes one, and lists the programs that do
 * not
 *
 * Context: main thread, unless a function says otherwise.
 */
#ifndef LAUNCH_LAUNCH_H
#define LAUNCH_LAUNCH_H

#include "base/err.h"
#include "sampler/collector/types/options.h"
#include "sampler/collector/types/statistics.h"
#include "sampler/program/program.h"
#include "sampler/wire/handshake.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
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

/** launch_raise_limits - as many files and as large ones as we are allowed */
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
 */
int launch_start(const struct launch *launch, struct launched *ret_launched, struct err *err);

/**
 * search_program - the file that a command stands for, searched in PATH without a slash
 * @size: of RET_PATH
 *
 * Return:  0; -ENOENT: there is none; -EACCES: it is a directory or not executable.
 */
int search_program(const char *command, char *ret_path, size_t size, struct err *err);

/**
 * search_examine - program_examine() with libc's calls
 *
 * Context: any thread.
 */
void search_examine(const char *path, struct program *ret_program);

/**
 * search_is_text - whether a file starts like a text, not like a program that does not fit
 *
 * Context: any thread.
 */
bool search_is_text(const char *path);

enum {
	MAX_UNSUPPORTED = 256,
};

struct unsupported_program {
	pid_t pid; /* the first */
	enum program_kind kind;
	uint64_t count;
	char path[WIRE_PATH_BYTES];
};

/* Zero is an empty one.  What comes after MAX_UNSUPPORTED different ones is only counted. */
struct unsupported_list {
	struct unsupported_program at[MAX_UNSUPPORTED];
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
