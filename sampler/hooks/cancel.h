/*
 * cancel.h - what has to be done should the thread be cancelled in a call of libc's
 *
 * glibc runs what was pushed with this function as the stack is unwound past its buffer; musl's
 * buffer is smaller.  Where libc has neither function nobody can be cancelled.
 */
#ifndef HOOKS_CANCEL_H
#define HOOKS_CANCEL_H

#include <stdint.h>

struct cancel_buffer {
	uint64_t words[8];
};

/**
 * weak_push - libc's own; NULL where it has none
 *
 * Context: agent.  Any thread.
 */
extern void weak_push(struct cancel_buffer *buffer, void (*routine)(void *),
		      void *argument) __asm__("_pthread_cleanup_push") __attribute__((weak));

/**
 * weak_pop - the same
 *
 * Context: agent.  Any thread.
 */
extern void weak_pop(struct cancel_buffer *buffer, int execute) __asm__("_pthread_cleanup_pop")
	__attribute__((weak));

/**
 * cancel_push - have ROUTINE called when this thread is cancelled
 *
 * Owns:    the caller's frame holds BUFFER until cancel_pop().
 * Context: agent.  Any thread.
 */
static inline void cancel_push(struct cancel_buffer *buffer, void (*routine)(void *),
			       void *argument)
{
	if (weak_push && weak_pop)
		weak_push(buffer, routine, argument);
}

/**
 * cancel_pop - it was not cancelled
 *
 * Context: agent.  The thread of cancel_push().
 */
static inline void cancel_pop(struct cancel_buffer *buffer)
{
	if (weak_push && weak_pop)
		weak_pop(buffer, 0);
}

#endif
