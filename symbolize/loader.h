/* loader.h - two threads that read files for the symbolizer, job after job */
#ifndef SYMBOLIZE_LOADER_H
#define SYMBOLIZE_LOADER_H

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
 * loader_free - end the threads after the jobs they are at; jobs that wait are dropped
 *
 * Context: main thread.
 */
void loader_free(struct loader *loader);

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
