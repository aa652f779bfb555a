/* timer.h - the CPU timers that send our SIGPROF */
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
 * timer_arm - a thread's own CPU timer
 * @tid:      the slot's thread; it need not be the caller
 * @first_ns: CPU time until the first signal, at least 1
 *
 * A timer that stands in the slot is deleted first.
 *
 * Return:  0 or -errno; the slot stays claimed and has no timer then.
 * Context: handler.
 */
int timer_arm(struct process *p, struct slot *slot, uint32_t tid, uint64_t first_ns);

/**
 * timer_arm_process - the CPU timer of the whole process, which finds threads
 * @first_ns: CPU time until its first expiry
 *
 * Return:  0 or -errno.
 * Context: agent.
 */
int timer_arm_process(struct process *p, uint64_t first_ns);

/**
 * timer_first_ns - CPU time from a sample that stood for OLD_NS to the first of those for NEW_NS
 *
 * Where in its period the change found the thread is not known: on average half of each passes, so
 * that what is given is right at any time after it.
 *
 * Context: handler.  Between slot_enter() and slot_leave().
 */
uint64_t timer_first_ns(struct slot *slot, uint64_t old_ns, uint64_t new_ns);

/**
 * timer_follow - set the slot's timer to the rate that is asked for now
 *
 * While samples are not wanted it is disarmed where the process timer finds its thread again, and
 * slow elsewhere.  Whole periods of the new rate that are past already weigh on the next sample.
 *
 * Context: handler.  The slot's thread, in its timer's signal and behind the sample of it.
 */
void timer_follow(struct process *p, struct slot *slot);

/**
 * timer_restart - set the slot's timer to a period from now on
 *
 * Context: handler.  Between slot_enter() and slot_leave().
 */
void timer_restart(struct slot *slot, uint64_t period_ns);

/**
 * timer_follow_process - the same for the process timer, which goes on while samples are not wanted
 *
 * Return:  what this signal stands for: CPU time between two expiries so far.
 * Context: handler.
 */
uint64_t timer_follow_process(struct process *p);

/**
 * timer_process_left_ns - CPU time of the process until its timer expires next
 *
 * Return:  0 when it has none.
 * Context: handler.
 */
uint64_t timer_process_left_ns(const struct process *p);

/**
 * timer_alive - whether the slot's timer still has a thread to count
 *
 * A timer belongs to a thread, not to its number: when the number lives on in another thread,
 * the kernel gives no time to the next expiry.
 *
 * Context: handler.
 */
bool timer_alive(const struct slot *slot);

/**
 * timer_jitter - move the next expiry by up to JITTER_PCT of the period, either way
 *
 * Relative to what remains: no CPU time is lost by it.
 *
 * Return:  whether it was moved.
 * Context: handler.  The timer's thread.
 */
bool timer_jitter(struct process *p, struct slot *slot);

/**
 * timer_jitter_process - the same for the process timer
 *
 * Context: handler.
 */
void timer_jitter_process(struct process *p);

/**
 * timer_delete_ended - delete the timer of a thread that has ended, if it had one
 *
 * Context: handler.  Between slot_enter() and slot_leave().
 */
void timer_delete_ended(struct process *p, const struct slot *slot);

/**
 * timer_delete_id - delete a timer by id + 1; 0 is none
 *
 * Context: handler.
 */
void timer_delete_id(int32_t id_plus_1);

#endif
