/* file_name.h - the names of a recording's files, from a template */
#ifndef FILES_FILE_NAME_H
#define FILES_FILE_NAME_H

#include "base/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct file_name {
	const char *pattern; /* %p pid, %c comm, %h host, %t UTC time, %n number, %% */
	const char *comm;    /* only [A-Za-z0-9._-] of it are kept */
	const char *host;    /* NULL: this machine's */
	pid_t pid;
	uint64_t time_ns; /* CLOCK_REALTIME */
	unsigned number;  /* 1 and on; where the pattern has no %n it comes before the ending;
			     0: there are no numbers */
	unsigned copy;    /* -1, -2 before number and ending; 0: nothing */
};

/**
 * file_name_make - a path from a template
 *
 * "x.perf" with number 1 is "x.0001.perf".
 *
 * Return:  0; -EINVAL for a letter that is not one of the five; -ENAMETOOLONG.
 * Context: any thread.
 */
int file_name_make(const struct file_name *name, char path[static PATH_MAX], struct err *err);

#endif
