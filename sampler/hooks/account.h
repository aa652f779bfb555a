/* account.h - what happens to the few allocations that are sampled, and to their release */
#ifndef HOOKS_ACCOUNT_H
#define HOOKS_ACCOUNT_H

#include "sampler/hooks/countdown.h"
#include "sampler/hooks/live.h"

#include <stdint.h>

/**
 * account_hit - memory was allocated that the thread's countdown did not pass
 * @memory: NULL: the allocation has failed, and nothing is counted
 * @caller: return address of the hook
 *
 * Return:  MEMORY.
 * Context: handler.  Any thread; before the program has the memory.
 */
void *account_hit(void *memory, uint64_t size, const void *caller);

/**
 * account_release - memory that live_maybe() is about to be given back
 *
 * Context: handler.  Any thread; before the allocator has it.
 */
void account_release(const void *memory, const void *caller);

/**
 * account_released - the same for memory that live_remove() has given and that is gone
 *
 * Context: handler.  Any thread.
 */
void account_released(const void *memory, const struct live *live, const void *caller);

/**
 * account_moved - memory that live_remove() has given is at TO now, which may be where it was
 *
 * What its sample stood for moves with it.
 *
 * Context: handler.  Any thread; before the program knows of TO.
 */
void account_moved(const void *memory, void *to, const struct live *live, const void *caller);

#endif
