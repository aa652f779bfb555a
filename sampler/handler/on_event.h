/* on_event.h - the signal of a perf event, which the collector has opened for a thread */
#ifndef HANDLER_ON_EVENT_H
#define HANDLER_ON_EVENT_H

#include "sampler/handler/sampling.h"

/*
 * An event sees its thread in user mode only, so that its signal, which comes at once, never meets
 * a system call that is about to sleep and would end with EINTR.  It stands for the period that
 * ends.  Periods that end in the kernel send no signal: they are given at the tick, by the
 * thread's timer, whose signal is raised on the way back to user mode.  Both draw on one account,
 * the thread's CPU clock, so that the sum is right however the two share it.
 * docs/decisions/0029-events-see-user-mode.md has the biases.
 */

/**
 * event_is_possible - whether the collector may have opened events for threads of this process
 *
 * Context: handler.
 */
bool event_is_possible(const struct process *p);

/**
 * event_is_ours - whether a signal comes from an event of the collector's
 *
 * Context: handler.
 */
bool event_is_ours(const struct process *p, const siginfo_t *info);

/**
 * event_target - whether an event's signal makes a sample due, in a slot that is entered then
 *
 * That of an event that was closed meanwhile is taken and forgotten.
 *
 * Context: handler.
 */
bool event_target(struct process *p, const siginfo_t *info, struct signal_target *at);

/**
 * event_is_open - whether the collector has opened an event for the slot's thread
 *
 * Context: handler.
 */
bool event_is_open(const struct slot *slot);

/**
 * event_counts_caller - whether an event stands, and counts the calling thread
 *
 * The number of a thread that has ended can come again before the collector has closed its event.
 * That one is given up then: the collector sees it, and opens another when it is time.
 *
 * Context: handler.  The slot's thread.
 */
bool event_counts_caller(struct process *p, const struct slot *slot);

/**
 * event_closed - the event of the slot's thread has been closed: its timer counts again
 *
 * Context: handler.  Between slot_enter() and slot_leave(); the slot's thread.
 */
void event_closed(struct process *p, struct slot *slot);

/**
 * event_tick - whether the tick makes a sample due where an event stands
 *
 * Context: handler.  Between slot_enter() and slot_leave(); the slot's thread, at a timer's signal.
 */
bool event_tick(struct process *p, struct signal_target *at);

#endif
