/* hook.h - the command that is run for every closed segment */
#ifndef FILES_HOOK_H
#define FILES_HOOK_H

#include <stddef.h>
#include <sys/types.h>

enum { HOOK_CAUSE_START = 1000, HOOK_CAUSE_SIGNAL = 256 };

/**
 * hook_start - run `sh -c COMMAND wick PATH` in a process group of its own
 *
 * With the default signals, no input, and its output on our standard error.
 *
 * Return:  its pid; -errno.
 * Context: any thread.
 */
pid_t hook_start(const char *command, const char *path);

/**
 * hook_cause - why a run failed, as a number to compare: the exit status, HOOK_CAUSE_SIGNAL + n
 *
 * Return:  0 when it succeeded.
 * Context: any thread.
 */
int hook_cause(int wait_status);

/**
 * hook_describe - a cause in words; HOOK_CAUSE_START + errno says that it did not start
 *
 * Context: any thread.
 */
void hook_describe(int cause, char *to, size_t size);

#endif
