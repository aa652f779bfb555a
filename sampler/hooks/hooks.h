/* hooks.h - what the files of the hooks object have in common */
#ifndef HOOKS_HOOKS_H
#define HOOKS_HOOKS_H

#include "sampler/hooks/hook_table.h"

#include <stdbool.h>
#include <stddef.h>

/* Only the interposed names leave the object; everything else is hidden by a flag. */
#define HOOK_EXPORT __attribute__((visibility("default")))

/* Where the program called the hook that this stands in. */
#define HOOK_CALLER __builtin_return_address(0)

/**
 * wick_agent_hooks - the agent's one name for us; absent where the agent is
 *
 * Context: handler.  Any thread.
 */
extern const struct hook_table *wick_agent_hooks(void) __attribute__((weak));

/**
 * hooks_table - the agent's table
 *
 * Return:  the table, or NULL without an agent.
 * Owns:    the agent, for ever.
 * Context: handler.  Any thread.
 */
static inline const struct hook_table *hooks_table(void)
{
	return wick_agent_hooks ? wick_agent_hooks() : NULL;
}

#endif
