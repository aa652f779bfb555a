/* context.h - whose work the calling thread does, as the program publishes it for each thread */
#ifndef HANDLER_CONTEXT_H
#define HANDLER_CONTEXT_H

#include "sampler/handler/slot.h"

/**
 * context_begin - tell the collector the calling thread's thread pointer
 *
 * It then reads the thread's context while it is blocked, before its first sample.
 *
 * Context: handler.  A system call.  Between slot_claim() and slot_leave(), of the calling thread.
 */
void context_begin(struct slot *slot);

/**
 * context_append - write the thread's context behind the pcs of a record
 * @to: the end of the pcs, with room for CONTEXT_MAX_BYTES of data
 *
 * Reads the variables of the ring header in their order; the first that has a context wins.  Memory
 * that other code of the program may unmap is probed for each sample; without system calls, only
 * what was probed before is read.
 *
 * Return:  the bytes that it takes, a multiple of 8; 0: the thread has no context.
 * Context: handler.  Between slot_enter() and slot_leave().
 */
uint32_t context_append(struct process *p, struct slot *slot, struct record_context *to);

/**
 * context_of_creator - the value that a new thread of the caller is to have
 *
 * Return:  false: none, or the program keeps none.
 * Context: agent.
 */
bool context_of_creator(struct process *p, struct context_value *ret_value);

/**
 * context_hand_on - give the calling thread, which is new, the value of its creator
 *
 * Context: agent.
 */
void context_hand_on(struct process *p, const struct context_value *value);

#endif
