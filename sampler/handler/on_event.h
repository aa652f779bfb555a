/*
 * on_event.h - handles the signal of a perf event that the collector opened for a thread
 *
 * Context: handler, unless a function says otherwise.
 */
#ifndef HANDLER_ON_EVENT_H
#define HANDLER_ON_EVENT_H

#include "sampler/handler/sampling.h"

/*
 * A perf event counts its thread in user mode only, so that its signal, which comes at once, never
 * interrupts a system call that is about to sleep and would fail with EINTR. It represents the
 * period that ends. Periods that end in the kernel send no signal: they are sampled at the tick, by
 * the thread's timer, whose signal is raised on the way back to user mode. Both use one account,
 * the thread's CPU clock, so that the sum is right however the two share it. docs/decisions/0029
 * has the biases.
 */

/** event_is_possible - whether the collector may have opened events for threads of this process */
bool event_is_possible(const struct process *p);

/** event_is_ours - whether a signal comes from a perf event of the collector */
bool event_is_ours(const struct process *p, const siginfo_t *info);

/**
 * event_target - whether the signal of an event makes a sample due; if so, the slot is entered
 *
 * A signal of an event that was closed meanwhile is ignored.
 */
bool event_target(struct process *p, const siginfo_t *info, struct signal_target *at);

/** event_is_open - whether the collector has opened an event for the slot's thread */
bool event_is_open(const struct slot *slot);

/**
 * event_counts_caller - whether an event is open and counts the calling thread
 *
 * The tid of an ended thread can be reused before the collector has closed its event. The agent
 * then rejects the event: the collector sees this, and opens another in time.
 *
 * Context: handler.  The slot's thread.
 */
bool event_counts_caller(struct process *p, const struct slot *slot);

/**
 * event_closed - the event of the slot's thread has been closed: its timer is used again
 *
 * Context: handler.  Between slot_enter() and slot_leave(); the slot's thread.
 */
void event_closed(struct process *p, struct slot *slot);

/**
 * event_tick - whether the tick makes a sample due in a thread with an event
 *
 * Context: handler.  Between slot_enter() and slot_leave(); the slot's thread, at a timer's signal.
 */
bool event_tick(struct process *p, struct signal_target *at);

#endif
