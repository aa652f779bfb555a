/*
 * timer.h - the CPU timers that send the sampling signal
 *
 * Context: handler, unless a function says otherwise.
 */
#ifndef HANDLER_TIMER_H
#define HANDLER_TIMER_H

#include "sampler/handler/slot.h"

/**
 * timer_cpu_ns - CPU time of a thread of the process; a system call
 *
 * Return:  0 when there is none.
 * Context: handler.  Not in AGENT_NO_SYSCALLS.
 */
uint64_t timer_cpu_ns(uint32_t tid);

/**
 * timer_arm - arm a thread's own CPU timer
 * @tid:      the slot's thread; it need not be the caller
 * @first_ns: CPU time until the first signal, at least 1
 *
 * An existing timer of the slot is deleted first.
 *
 * Return:  0 or -errno; then the slot stays claimed, without a timer.
 */
int timer_arm(struct process *p, struct slot *slot, uint32_t tid, uint64_t first_ns);

/**
 * timer_arm_process - arm the CPU timer of the whole process, which discovers threads
 * @first_ns: CPU time until its first expiry
 *
 * Return:  0 or -errno.
 * Context: agent.
 */
int timer_arm_process(struct process *p, uint64_t first_ns);

/**
 * timer_random_ns - 1 to MOST_NS, evenly distributed
 *
 * Context: handler.  Between slot_enter() and slot_leave().
 */
uint64_t timer_random_ns(struct slot *slot, uint64_t most_ns);

/**
 * timer_take_account - let a new thread take whole periods of the process's account
 *
 * For DISCOVERY_HOOKS. The account holds CPU time of ended threads that no sample represents. It is
 * negative if samples represent more than these threads used. A thread that takes periods has its
 * first sample at once. Otherwise its first period has a random start offset: a thread that is
 * shorter than a period is sampled only if it starts in the middle of one.
 *
 * Return:  CPU time until the thread's first signal.
 * Context: agent.  Between slot_claim() and slot_leave(); the slot's thread.
 */
uint64_t timer_take_account(struct process *p, struct slot *slot);

/**
 * timer_return_account - add the residual of a thread that ends to the account
 *
 * Context: agent.  Between slot_enter() and slot_leave(); the slot's thread, which took from it.
 */
void timer_return_account(struct process *p, struct slot *slot);

/**
 * timer_first_ns - CPU time from a sample with period OLD_NS to the first one with NEW_NS
 *
 * The thread's position in its period at the change is not known: on average half of each period
 * passes, so that the sampled CPU time is right at any later time.
 *
 * Context: handler.  Between slot_enter() and slot_leave().
 */
uint64_t timer_first_ns(struct slot *slot, uint64_t old_ns, uint64_t new_ns);

/**
 * timer_follow - set the slot's timer to the rate requested now
 *
 * While sampling is paused, the timer is disarmed if the process timer can discover its thread
 * again, and slow otherwise. Whole periods of the new rate that have already passed are added to
 * the next sample.
 *
 * Context: handler. The slot's thread, in its timer's signal, after its sample.
 */
void timer_follow(struct process *p, struct slot *slot);

/**
 * timer_restart - restart the slot's timer with a period from now on
 *
 * Context: handler.  Between slot_enter() and slot_leave().
 */
void timer_restart(struct slot *slot, uint64_t period_ns);

/**
 * timer_follow_process - set the process timer to the rate requested now; it runs during a pause,
 * too
 *
 * Return:  the CPU time that this signal represents: the period so far.
 */
uint64_t timer_follow_process(struct process *p);

/**
 * timer_process_left_ns - CPU time of the process until its timer expires next
 *
 * Return:  0 when it has none.
 */
uint64_t timer_process_left_ns(const struct process *p);

/**
 * timer_alive - whether the thread of the slot's timer still exists
 *
 * A timer belongs to a thread, not to its tid: when another thread has the tid, the kernel returns
 * no time to the next expiry.
 */
bool timer_alive(const struct slot *slot);

/**
 * timer_jitter - move the next expiry by up to JITTER_PCT of the period
 *
 * Relative to the remaining time, so no CPU time is lost.
 *
 * Return:  whether it was moved.
 * Context: handler.  The timer's thread.
 */
bool timer_jitter(struct process *p, struct slot *slot);

/** timer_jitter_process - move the next expiry of the process timer in the same way */
void timer_jitter_process(struct process *p);

/**
 * timer_delete_ended - delete the timer of a thread that has ended, if it had one
 *
 * Context: handler.  Between slot_enter() and slot_leave().
 */
void timer_delete_ended(struct process *p, const struct slot *slot);

/** timer_delete_id - delete a timer by id + 1; 0 means none */
void timer_delete_id(int32_t id_plus_1);

#endif
