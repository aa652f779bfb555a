/* agent_path.h - where the agent's library is */
#ifndef TARGET_AGENT_PATH_H
#define TARGET_AGENT_PATH_H

#include "base/err.h"

/**
 * agent_path_find - $WICK_AGENT, or lib/wick/libwick-agent.so beside wick's own directory
 *
 * Return:  0; -ENOENT and others, with the reason.
 * Owns:    the caller, to free().
 * Context: main thread.
 */
int agent_path_find(char **ret_path, struct err *err);

#endif
