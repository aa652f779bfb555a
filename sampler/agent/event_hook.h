/* event_hook.h - the table by which the hooks object reaches the agent */
#ifndef AGENT_EVENT_HOOK_H
#define AGENT_EVENT_HOOK_H

#include "sampler/hooks/hook_table.h"
#include "sampler/wire/ring.h"

/**
 * event_hooks_start - this image is sampled: tell the hooks what to watch
 *
 * Context: agent.  The constructor.
 */
void event_hooks_start(const struct ring_header *header);

/**
 * event_hooks_settle - what the hooks are to watch is final
 *
 * Context: agent.  The constructor.
 */
void event_hooks_settle(void);

#endif
