/* hooks.h - how an interposed name finds the function that it stands in for */
#ifndef AGENT_HOOKS_H
#define AGENT_HOOKS_H

#include "sampler/agent/agent.h"

#include <stdatomic.h>

/**
 * hook_next - agent_next(), asked once
 *
 * Writes the same value whoever comes first, so a vfork child may do it too.
 *
 * Return:  the function, or NULL.
 * Context: agent.  Any thread; also between vfork and exec.
 */
static inline void *hook_next(void *_Atomic *next, const char *name)
{
	void *found = atomic_load_explicit(next, memory_order_relaxed);

	if (!found) {
		found = agent_next(name);
		atomic_store_explicit(next, found, memory_order_relaxed);
	}
	return found;
}

/* The next function of a hook's own name, with its type; NULL where libc has none. */
#define NEXT(name)                                                                                 \
	({                                                                                         \
		static void *_Atomic next_;                                                        \
		(__typeof__(&(name)))hook_next(&next_, #name);                                     \
	})

#endif
