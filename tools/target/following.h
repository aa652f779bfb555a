/* following.h - children of running processes that have joined, for `wick record -p`, `wick top -p`
 */
#ifndef TARGET_FOLLOWING_H
#define TARGET_FOLLOWING_H

#include "base/err.h"
#include "sampler/collector/collector.h"

#include <stdbool.h>

/* Set the first two; zero the others.  following_release() takes any state. */
struct following {
	struct collector *collector; /* NULL: nobody is followed */
	bool verbose;                /* print why a child is not attached to */
	uint64_t n_refused;
	struct err why; /* of the last */
};

/**
 * following_tick - have children attach, when it is due
 *
 * Context: main thread.
 */
void following_tick(struct following *following, uint64_t now_ns);

/**
 * following_due_ns - when following_tick() next has something to do
 *
 * Return:  ns; UINT64_MAX: never.
 * Context: main thread.
 */
uint64_t following_due_ns(const struct following *following);

/**
 * following_tell - say which did not
 *
 * Context: main thread.
 */
void following_tell(const struct following *following);

/**
 * following_release - forget them
 *
 * Context: main thread.
 */
void following_release(struct following *following);

#endif
