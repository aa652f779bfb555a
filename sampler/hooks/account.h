/* account.h - samples few of the program's allocations, and reports their release */
#ifndef HOOKS_ACCOUNT_H
#define HOOKS_ACCOUNT_H

#include "sampler/hooks/countdown.h"
#include "sampler/hooks/live.h"

#include <stdint.h>

/**
 * account_hit - sample an allocation, at which the thread's countdown has ended
 * @memory: NULL: the allocation failed; nothing is counted
 * @caller: return address of the hook
 *
 * Return:  MEMORY.
 * Context: handler.  Any thread; before the program has the memory.
 */
void *account_hit(void *memory, uint64_t size, const void *caller);

/**
 * account_release - report that memory, for which live_maybe() is true, is about to be freed
 *
 * Context: handler. Any thread; before the allocator gets it.
 */
void account_release(const void *memory, const void *caller);

/**
 * account_released - report the release of memory that live_remove() has returned
 *
 * Context: handler.  Any thread.
 */
void account_released(const void *memory, const struct live *live, const void *caller);

/**
 * account_moved - memory that live_remove() has returned is now at TO, possibly the same address
 *
 * The bytes that its sample represents move with it.
 *
 * Context: handler. Any thread; before the program gets TO.
 */
void account_moved(const void *memory, void *to, const struct live *live, const void *caller);

#endif
