/* check.h - whether a process can be read without an agent */
#ifndef EXTERNAL_CHECK_H
#define EXTERNAL_CHECK_H

#include "base/err.h"
#include "base/sample.h"

#include <sys/types.h>

/* What its status file says. */
struct checked_process {
	char comm[SAMPLE_COMM_SIZE];
	pid_t tracer; /* its tracer; 0: none */
};

/**
 * check_process - whether a pid is a process whose threads can be read
 *
 * Return:  0; -ESRCH: there is none; -EPERM: it may not be read; -EINVAL: it is a thread, a
 *          zombie, the kernel's own or wick itself; the reason in ERR.
 * Context: any thread.
 */
int check_process(pid_t pid, struct checked_process *ret_process, struct err *err);

/**
 * check_denied - say that a process may not be read, and what would help
 *
 * Return:  -EPERM.
 * Context: any thread.
 */
int check_denied(pid_t pid, struct err *err);

#endif
