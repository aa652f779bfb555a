/* idle.h - samples of CPUs that have nothing to do, as `perf record -a` takes them */
#ifndef QUERY_IDLE_H
#define QUERY_IDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;

/* One a thread, and one a node; both NULL where no thread is the kernel's idle one. */
struct idle {
	uint8_t *threads;
	uint8_t *nodes;
};

/**
 * idle_init - find the idle threads (swapper) of a profile, and the stacks that are idle
 *
 * A stack is idle when a function in it is one of those by which FlameScope knows it.
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller, to idle_release(), also when it failed.
 * Context: any thread.
 */
int idle_init(struct idle *idle, const struct profile *profile);

/**
 * idle_has - whether a sample is of an idle CPU
 *
 * Context: any thread.
 */
bool idle_has(const struct idle *idle, const struct profile *profile, size_t sample);

/**
 * idle_is_thread - whether a thread is the one that runs where nothing else does
 *
 * Context: any thread.
 */
bool idle_is_thread(const char *comm, int64_t tid);

/**
 * idle_is_function - whether a function of that thread waits for something to run
 *
 * Context: any thread.
 */
bool idle_is_function(const char *name);

/**
 * idle_release - forget it
 *
 * Context: any thread.
 */
void idle_release(struct idle *idle);

#endif
