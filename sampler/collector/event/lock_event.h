/* lock_event.h - a wait for a lock, from its record to a sample */
#ifndef EVENT_LOCK_EVENT_H
#define EVENT_LOCK_EVENT_H

#include "sampler/collector/event/event.h"

#include <stdbool.h>

/**
 * lock_event_holds - what decode_next() checks of a HOOK_LOCK beyond any event
 *
 * Return:  whether its extra says what there is.
 * Context: collector thread.
 */
bool lock_event_holds(const struct record_event *event);

/**
 * lock_event_fill - make a checked HOOK_LOCK of a node's sample, whose pcs are all there
 *
 * Its weight is microseconds, 1 at least; its state is sleeping; n_pcs shrinks to the waiter's own
 * frames, and the waker's stand behind them.
 *
 * Context: collector thread.
 */
void lock_event_fill(struct event_sample *sample, const struct record_event *event);

#endif
