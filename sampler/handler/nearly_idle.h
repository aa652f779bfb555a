/* nearly_idle.h - threads that run too little for a timer of their own, and timers that nobody runs
 * for
 */
#ifndef HANDLER_NEARLY_IDLE_H
#define HANDLER_NEARLY_IDLE_H

#include "sampler/handler/sampling.h"
#include "sampler/handler/slot.h"

/**
 * nearly_idle_settle - a thread that the process timer has hit is to have its own timer, or is not
 *
 * Not at its first hit.  The process timer's hits are right for a thread however it runs; its own
 * timer is only looked at when a tick finds that thread running, which a thread that runs for less
 * than a tick at a time seldom is.  Where processors tick together it is the first of them whose
 * thread is hit, every time: what a thread has used meanwhile is in the sample after the one that
 * gave it a timer.  docs/decisions/0022 has the numbers.
 *
 * Context: handler.  Between slot_enter() and slot_leave(), the slot's thread; not in
 * AGENT_NO_SYSCALLS.
 */
void nearly_idle_settle(struct process *p, struct slot *slot, const struct tick *tick);

/**
 * nearly_idle_arm - a thread that the collector has found has its own timer, and what it used so
 * far
 * @tid: the slot's thread; it need not be the caller
 *
 * Context: handler.  Between slot_enter() and slot_leave(); not in AGENT_NO_SYSCALLS.
 */
void nearly_idle_arm(struct process *p, struct slot *slot, uint32_t tid);

/**
 * nearly_idle_forget - the slot's tid may be another thread's than before: nothing is known of its
 * stack
 *
 * Its timer counts nobody any more, and is deleted.
 *
 * Context: handler.  Between slot_enter() and slot_leave(), the slot's thread.
 */
void nearly_idle_forget(struct slot *slot);

/**
 * nearly_idle_add_cpu - the process timer says that the process has used this much more
 *
 * It counts all CPU of the process, and what samples stand for is taken off
 * (nearly_idle_sampled()).  What is left was used by ended threads between the kernel's last tick
 * and their end, or has not been looked at yet.
 *
 * Context: handler.
 */
void nearly_idle_add_cpu(struct process *p, uint64_t ns);

/**
 * nearly_idle_sampled - so much of that has its samples, or has been counted as lost
 *
 * Context: handler.
 */
void nearly_idle_sampled(struct process *p, uint64_t ns);

/**
 * nearly_idle_inherit - a thread that is new stands for whole periods that ended threads left
 *
 * At most two for each that had a timer and has ended: more has another cause than the tick.  Those
 * that have left nothing yet are remembered, 64 of them: the process timer may say it later.
 *
 * Context: handler.  Between slot_enter() and slot_leave(), the slot's thread.
 */
void nearly_idle_inherit(struct process *p, struct slot *slot, uint64_t period_ns);

/**
 * nearly_idle_sweep - delete timers of threads that have ended, in the next few slots
 *
 * They would stay until the slot is claimed again, and count against the user's signals.
 *
 * Context: handler.  Not in AGENT_NO_SYSCALLS.
 */
void nearly_idle_sweep(struct process *p);

#endif
