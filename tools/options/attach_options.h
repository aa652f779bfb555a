/* attach_options.h - which running processes are to be joined */
#ifndef OPTIONS_ATTACH_OPTIONS_H
#define OPTIONS_ATTACH_OPTIONS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Ids of the options that have no letter, beside each command's own. */
enum { OPT_COMM = 1100, OPT_SIGNAL, OPT_NO_CHILDREN };

enum { ATTACH_MAX_PIDS = 1024, ATTACH_COMM_BYTES = 64 };

struct attach_options {
	pid_t pids[ATTACH_MAX_PIDS];
	size_t n_pids;
	const char *comm; /* a regular expression; NULL: by pid alone */
	bool all;         /* those that are chosen among all processes, again and again */
	bool no_children; /* theirs, or those of CMD, are left out */
	int signal;       /* that samples come by; 0: SIGURG, or another where that is taken */
};

/* Rows of an option table; -a is a row of wick record's own. */
#define ATTACH_OPTION_SPECS                                                                        \
	{'p', "pid", "LIST", "attach to these running processes instead of starting CMD"},         \
		{OPT_COMM, "comm", "REGEX", "attach to the processes whose name matches"},         \
		{OPT_NO_CHILDREN, "no-children", NULL, "do not follow child processes"},           \
	{                                                                                          \
		OPT_SIGNAL, "signal", "NAME",                                                      \
			"sampling signal, for programs that use SIGURG themselves (default: URG)"  \
	}

/**
 * attach_options_take - take in one of the options above
 *
 * Return:  1; 0: it is none of them; -EINVAL and the reason.
 * Owns:    VALUE outlives the options.
 * Context: main thread.
 */
int attach_options_take(int id, const char *value, struct attach_options *options, struct err *err);

/**
 * attach_options_given - whether processes are to be joined, rather than a command started
 *
 * Context: any thread.
 */
bool attach_options_given(const struct attach_options *options);

/**
 * attach_options_comm - what a process is called now
 *
 * Return:  false: it is not there, or has no name.
 * Context: any thread.
 */
bool attach_options_comm(pid_t pid, char ret_comm[static ATTACH_COMM_BYTES]);

/**
 * attach_options_hint - what to do about a command that is not there: a process may be meant
 * @err: what was said of it; what has a hint stays as it is
 *
 * Context: main thread.
 */
void attach_options_hint(const char *command, struct err *err);

/**
 * attach_options_find - the processes that are meant
 * @ret_pids: room for ATTACH_MAX_PIDS; without doubles, in the order of the command line
 *
 * By name: all that may be traced, but this one and threads of the kernel.
 *
 * Return:  0; -ESRCH: there are none; -errno.  The reason is in ERR.
 * Context: main thread.
 */
int attach_options_find(const struct attach_options *options, pid_t *ret_pids, size_t *ret_n,
			struct err *err);

#endif
