/* loader.h - two threads that read files for the symbolizer, job after job */
#ifndef BOUNDS_LOADER_H
#define BOUNDS_LOADER_H

#include <stdbool.h>
#include <stdint.h>

enum { LOADER_THREADS = 2 };

struct loader;

/**
 * loader_new - start the threads
 * @wait: no thread; a job runs inside loader_push()
 *
 * They are a little less important to the scheduler than the program that is recorded.
 *
 * Return:  0; -errno.
 * Owns:    the caller, to loader_free().
 * Context: main thread.
 */
int loader_new(bool wait, struct loader **ret_loader);

/**
 * loader_stop - from now on jobs that wait are dropped, and those under way give up
 *
 * Context: any thread.  NULL is fine.
 */
void loader_stop(struct loader *loader);

/**
 * loader_is_stopping - is this a loader's thread, and is the loader to stop?
 *
 * Whatever takes long asks at least every 10 ms of work, and returns -ECANCELED or what it likes:
 * nobody believes what was made after that.
 *
 * Context: any thread.
 */
bool loader_is_stopping(void);

/**
 * loader_current - the loader whose thread this is
 *
 * Return:  NULL: none's.
 * Context: any thread.
 */
struct loader *loader_current(void);

/**
 * loader_set_current - this thread, started by a job, works for LOADER as well; NULL is fine
 *
 * Context: any thread, which ends before the job.
 */
void loader_set_current(struct loader *loader);

/**
 * loader_free - stop, and end the threads
 *
 * A thread that is in a system call that does not end (a file system that does not answer) is
 * given half a second, then left alone.
 *
 * Return:  true; false: a thread is left, and everything that jobs use has to stay.
 * Context: main thread.  NULL is fine.
 */
bool loader_free(struct loader *loader);

/**
 * loader_push - have RUN(CONTEXT) called on one of the threads
 *
 * Jobs begin in order, and two run at once.  What the job made is seen by the main thread when the
 * job publishes it by a release store.
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller keeps CONTEXT, until loader_free() has returned.
 * Context: any thread.
 */
int loader_push(struct loader *loader, void (*run)(void *context), void *context);

/**
 * loader_push_owned - the same, with what is to be done when the loader ends before the job begins
 *
 * Context: any thread.  DROP runs on the thread that ends the loader.
 */
int loader_push_owned(struct loader *loader, void (*run)(void *context),
		      void (*drop)(void *context), void *context);

/**
 * loader_wait - until a job has ended since the last call, none is left, or TIMEOUT_NS
 * @idle: wait also when no job is left
 *
 * Context: main thread.
 */
void loader_wait(struct loader *loader, uint64_t timeout_ns, bool idle);

#endif
