/* hooks.h - how an interposed name finds the function that it stands in for */
#ifndef INTERPOSE_HOOKS_H
#define INTERPOSE_HOOKS_H

#include "sampler/agent/agent.h"

#include <stdatomic.h>

/* One for each use of NEXT(), in a section of their own. */
struct hook {
	void *_Atomic next;
	const char *name;
};

/**
 * hook_next - agent_next(), asked once
 *
 * hooks_find() has asked by then, but for what runs before our constructor.  Writes the same
 * value whoever comes first, so a vfork child may do it too.
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
 * hooks_find - ask for every function now
 *
 * dlsym() is not for signal handlers, and forgets the error that the program's dlerror() is
 * about to ask for.
 *
 * Context: agent.  The constructor.
 */
void hooks_find(void);

/* The next function of a hook's own name, with its type; NULL where libc has none. */
#define NEXT(function)                                                                             \
	({                                                                                         \
		static struct hook hook_                                                           \
			__attribute__((section("wick_hooks"), used)) = {.name = #function};        \
		(__typeof__(&(function)))hook_next(&hook_);                                        \
	})

#endif
