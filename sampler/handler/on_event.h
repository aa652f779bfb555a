/* on_event.h - the signal of a perf event, which the collector has opened for a thread */
#ifndef HANDLER_ON_EVENT_H
#define HANDLER_ON_EVENT_H

#include "sampler/handler/sampling.h"

/*
 * An event sends a signal for each period, but signals that find one pending are merged into it,
 * and a rate can change between two.  So a sample stands for the whole periods of CPU that its
 * thread used since its samples so far; what is less than a period waits for the next one.
 */

/**
 * event_is_ours - whether a signal comes from an event of the collector's
 *
 * Context: handler.
 */
bool event_is_ours(const struct process *p, const siginfo_t *info);

/**
 * event_lands - whether an event's signal makes a sample due, in a slot that is entered then
 *
 * That of an event that was closed meanwhile is taken and forgotten.
 *
 * Context: handler.
 */
bool event_lands(struct process *p, const siginfo_t *info, struct landing *at);

/**
 * event_stands - whether the collector has opened an event for the slot's thread
 *
 * Context: handler.
 */
bool event_stands(const struct slot *slot);

/**
 * event_is_mine - whether an event stands, and counts the calling thread
 *
 * The number of a thread that has ended can come again before the collector has closed its event.
 * That one is given up then: the collector sees it, and opens another when it is time.
 *
 * Context: handler.  The slot's thread.
 */
bool event_is_mine(struct process *p, const struct slot *slot);

/**
 * event_catches_up - whether the process timer's signal makes a sample due where an event stands
 *
 * Signals of an event that may not see the kernel wait until the thread is back from there: what
 * it used meanwhile is given at the tick.  The slot is entered then.
 *
 * Context: handler.  The slot's thread.
 */
bool event_catches_up(struct process *p, struct landing *at);

#endif
