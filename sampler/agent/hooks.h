/* hooks.h - how a hook finds the function that it replaces */
#ifndef AGENT_HOOKS_H
#define AGENT_HOOKS_H

#include "sampler/agent/agent.h"

#include <stdatomic.h>

/* One for each use of NEXT(), in a section of its own. */
struct hook {
	void *_Atomic next;
	const char *name;
};

/**
 * hook_next - the result of agent_next(), cached
 *
 * hooks_find() has filled the cache, except for calls before the agent's constructor. All threads
 * write the same value, and so may a vfork child.
 *
 * Return:  the function, or NULL.
 * Context: agent.  Any thread; also between vfork and exec.
 */
static inline void *hook_next(struct hook *hook)
{
	void *found = atomic_load_explicit(&hook->next, memory_order_relaxed);

	if (!found) {
		found = agent_next(hook->name);
		atomic_store_explicit(&hook->next, found, memory_order_relaxed);
	}
	return found;
}

/**
 * hooks_find - look up every function now
 *
 * dlsym() is unsafe in signal handlers, and clears the error that the program's dlerror() would
 * return.
 *
 * Context: agent.  The constructor.
 */
void hooks_find(void);

/* The next function of that name, with its type; NULL if libc has none. */
#define NEXT(function)                                                                             \
	({                                                                                         \
		static struct hook hook_                                                           \
			__attribute__((section("wick_hooks"), used)) = {.name = #function};        \
		(__typeof__(&(function)))hook_next(&hook_);                                        \
	})

#endif
