/*
 * event_hook.h - the table through which the hooks object calls the agent
 *
 * Context: agent. The constructor.
 */
#ifndef AGENT_EVENT_HOOK_H
#define AGENT_EVENT_HOOK_H

#include "sampler/hooks/hook_table.h"
#include "sampler/wire/ring.h"

/** event_hooks_start - this image is sampled: tell the hooks what to report */
void event_hooks_start(const struct ring_header *header);

/** event_hooks_settle - mark the hooks' configuration as final */
void event_hooks_settle(void);

#endif
