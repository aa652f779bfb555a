/* child_fixture.h - processes that a test starts, waits for and ends */
#ifndef UNIT_CHILD_FIXTURE_H
#define UNIT_CHILD_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/**
 * child_start - a process that runs a function and ends with status 0; at the latest when we end
 *
 * Owns:    the caller, to child_end() or child_status().
 * Context: main thread, as for all of these.
 */
pid_t child_start(void (*run)(void));

/**
 * child_start_paused - a process that waits for signals
 *
 * Owns:    the caller, to child_end().
 * Context: main thread.
 */
pid_t child_start_paused(void);

/**
 * child_start_prepared - the same, once it has done what PREPARE does
 * @ret_able: what PREPARE gave; false: it could not
 *
 * Owns:    the caller, to child_end().
 * Context: main thread.
 */
pid_t child_start_prepared(bool (*prepare)(void), bool *ret_able);

/**
 * child_shared - zeroes that we share with processes that we start
 *
 * Owns:    the caller, to munmap(); for NULL, none.
 * Context: main thread.
 */
void *child_shared(size_t size);

/**
 * child_rest - sleep for a millisecond
 *
 * Context: main thread.
 */
void child_rest(void);

/**
 * child_end - kill a process that we started, and wait for its end
 *
 * Context: main thread.
 */
void child_end(pid_t pid);

/**
 * child_status - wait for the end of a process that we started
 *
 * Return:  its status, as waitpid() has it.
 * Context: main thread.
 */
int child_status(pid_t pid);

/**
 * child_await_zombie - wait for its end, and leave it a zombie
 *
 * Context: main thread.
 */
void child_await_zombie(pid_t pid);

/**
 * thread_letter - the letter of a thread's state, by /proc/PID/task/TID/stat
 *
 * Return:  the letter; '?' when there is no such thread.
 * Context: any thread.
 */
char thread_letter(pid_t pid, pid_t tid);

#endif
