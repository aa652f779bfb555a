/* nearly_idle.h - threads that use too little CPU for a timer of their own, and timers of ended
 * threads */
#ifndef HANDLER_NEARLY_IDLE_H
#define HANDLER_NEARLY_IDLE_H

#include "sampler/handler/sampling.h"
#include "sampler/handler/slot.h"

/**
 * nearly_idle_settle - decide whether a thread that the process timer sampled gets its own timer
 *
 * Not at its first sample. The process timer samples any thread correctly. A thread's own timer is
 * checked only at ticks during which it runs, which a thread that runs for less than a tick at a
 * time seldom meets. Where all processors tick together, the first running thread gets the process
 * timer's signal, every time: the CPU time of the others is added to the sample after the one that
 * gave them a timer. docs/decisions/0022 has the numbers.
 *
 * Context: handler.  Between slot_enter() and slot_leave(), the slot's thread; not in
 * AGENT_NO_SYSCALLS.
 */
void nearly_idle_settle(struct process *p, struct slot *slot, const struct tick *tick);

/**
 * nearly_idle_arm - give a timer to a thread that the collector found, and account what it used so
 * far
 * @tid: the slot's thread; it need not be the caller
 *
 * Context: handler.  Between slot_enter() and slot_leave(); not in AGENT_NO_SYSCALLS.
 */
void nearly_idle_arm(struct process *p, struct slot *slot, uint32_t tid);

/**
 * nearly_idle_forget - forget a slot's timer and stack: its tid may now belong to another thread
 *
 * Its timer counts no thread any more, and is deleted.
 *
 * Context: handler.  Between slot_enter() and slot_leave(), the slot's thread.
 */
void nearly_idle_forget(struct slot *slot);

/**
 * nearly_idle_add_cpu - the process timer expired: the process used this much more CPU
 *
 * The account contains all CPU time of the process, minus what samples represent
 * (nearly_idle_sampled()). The rest was used by ended threads after the last kernel tick, or is not
 * sampled yet.
 *
 * Context: handler.
 */
void nearly_idle_add_cpu(struct process *p, uint64_t ns);

/**
 * nearly_idle_sampled - subtract CPU time that is sampled, or counted as lost
 *
 * Context: handler.
 */
void nearly_idle_sampled(struct process *p, uint64_t ns);

/**
 * nearly_idle_inherit - add whole periods that ended threads used to a new thread's next sample
 *
 * At most two for each ended thread that had a timer: more has another cause than the tick. Up to
 * 64 ended threads without residual are remembered, because the process timer may expire later.
 *
 * Context: handler.  Between slot_enter() and slot_leave(), the slot's thread.
 */
void nearly_idle_inherit(struct process *p, struct slot *slot, uint64_t period_ns);

/**
 * nearly_idle_sweep - delete timers of ended threads, in the next few slots
 *
 * Otherwise they stay until the slot is claimed again, and count against RLIMIT_SIGPENDING.
 *
 * Context: handler.  Not in AGENT_NO_SYSCALLS.
 */
void nearly_idle_sweep(struct process *p);

#endif
