/* hooks.h - what the files of the hooks object share */
#ifndef HOOKS_HOOKS_H
#define HOOKS_HOOKS_H

#include "sampler/hooks/hook_table.h"

#include <stdbool.h>
#include <stddef.h>

/* Only the interposed names are exported; a compiler flag hides everything else. */
#define HOOK_EXPORT __attribute__((visibility("default")))

/* The address at which the program called the hook that uses this macro. */
#define HOOK_CALLER __builtin_return_address(0)

/**
 * wick_agent_hooks - the agent's function for the hooks; NULL without an agent
 *
 * Context: handler.  Any thread.
 */
extern const struct hook_table *wick_agent_hooks(void) __attribute__((weak));

/**
 * hooks_table - the agent's table
 *
 * Return:  the table, or NULL without an agent.
 * Owns:    the agent; valid for the life of the process.
 * Context: handler.  Any thread.
 */
static inline const struct hook_table *hooks_table(void)
{
	return wick_agent_hooks ? wick_agent_hooks() : NULL;
}

#endif
