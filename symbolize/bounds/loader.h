/* loader.h - two threads that read files for the symbolizer, in jobs */
#ifndef BOUNDS_LOADER_H
#define BOUNDS_LOADER_H

#include <stdbool.h>
#include <stdint.h>

enum { LOADER_THREADS = 2 };

struct loader;

/**
 * loader_new - start the threads
 * @wait: no threads; loader_push() runs the job
 *
 * The threads have a lower priority (nice 5) than the recorded program.
 *
 * Return:  0; -errno.
 * Owns:    the caller, to loader_free().
 * Context: main thread.
 */
int loader_new(bool wait, struct loader **ret_loader);

/**
 * loader_stop - drop the jobs that wait; running jobs see loader_is_stopping()
 *
 * Context: any thread.  NULL is fine.
 */
void loader_stop(struct loader *loader);

/**
 * loader_is_stopping - is this a thread of a loader that was stopped?
 *
 * Code that takes long calls it at least every 10 ms of work, and returns -ECANCELED or anything
 * else if so: its result is not used.
 *
 * Context: any thread.
 */
bool loader_is_stopping(void);

/**
 * loader_current - the loader of this thread
 *
 * Return:  NULL: none.
 * Context: any thread.
 */
struct loader *loader_current(void);

/**
 * loader_set_current - make this thread, which a job has started, one of LOADER; NULL is fine
 *
 * Context: any thread, which ends before the job.
 */
void loader_set_current(struct loader *loader);

/**
 * loader_free - stop, and end the threads
 *
 * A thread may be in a system call that does not end (a file system without a server).  After half
 * a second such a thread is detached.
 *
 * Return:  true; false: a thread was detached, and everything that jobs use has to stay.
 * Context: main thread.  NULL is fine.
 */
bool loader_free(struct loader *loader);

/**
 * loader_push - run RUN(CONTEXT) in one of the threads
 *
 * Jobs begin in order, and two run at once.  A job publishes its result by a release store.
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller keeps CONTEXT, until loader_free() has returned.
 * Context: any thread.
 */
int loader_push(struct loader *loader, void (*run)(void *context), void *context);

/**
 * loader_push_owned - the same; DROP(CONTEXT) runs when the loader ends before the job begins
 *
 * Context: any thread.  DROP runs in the thread that calls loader_free().
 */
int loader_push_owned(struct loader *loader, void (*run)(void *context),
		      void (*drop)(void *context), void *context);

/**
 * loader_wait - wait until a job has ended since the last call, none is left, or for TIMEOUT_NS
 * @idle: wait also when no job is left
 *
 * Context: main thread.
 */
void loader_wait(struct loader *loader, uint64_t timeout_ns, bool idle);

#endif
