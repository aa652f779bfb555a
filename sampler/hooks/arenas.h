/* arenas.h - reads how much memory the program's allocator has, and how much of it is free */
#ifndef HOOKS_ARENAS_H
#define HOOKS_ARENAS_H

#include "sampler/hooks/hook_table.h"

/**
 * arenas_read - report what mallinfo2(3) returns, unless the last reading was too recent
 *
 * It locks the allocator's arenas one after the other, and visits every free block.
 *
 * Context: agent.  A thread outside the allocator and outside signal handlers, whose process is
 *          sampled: see HOOK_PLAIN.
 */
void arenas_read(const struct hook_table *table);

#endif
