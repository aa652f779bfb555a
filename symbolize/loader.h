/* loader.h - a thread that reads files for the symbolizer, one job after another */
#ifndef SYMBOLIZE_LOADER_H
#define SYMBOLIZE_LOADER_H

#include <stdbool.h>
#include <stdint.h>

struct loader;

/**
 * loader_new - start the thread
 * @wait: no thread; a job runs inside loader_push()
 *
 * Return:  0; -errno.
 * Owns:    the caller, to loader_free().
 * Context: main thread.
 */
int loader_new(bool wait, struct loader **ret_loader);

/**
 * loader_free - end the thread after the job it is at; jobs that wait are dropped
 *
 * Context: main thread.
 */
void loader_free(struct loader *loader);

/**
 * loader_push - have RUN(CONTEXT) called on the thread
 *
 * What the job made is seen by the main thread when the job publishes it by a release store.
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller keeps CONTEXT, until loader_free() has returned.
 * Context: main thread.
 */
int loader_push(struct loader *loader, void (*run)(void *context), void *context);

/**
 * loader_wait - until a job has ended since the last call, none is left, or TIMEOUT_NS
 * @idle: wait also when no job is left
 *
 * Context: main thread.
 */
void loader_wait(struct loader *loader, uint64_t timeout_ns, bool idle);

#endif
