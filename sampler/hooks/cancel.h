/*
 * cancel.h - runs a function if the thread is cancelled in a call of libc's
 *
 * glibc calls the pushed function when it unwinds the stack past its buffer; musl's buffer is
 * smaller. Without these functions in libc no thread can be cancelled.
 *
 * Context: agent (any thread), unless a function says otherwise.
 */
#ifndef HOOKS_CANCEL_H
#define HOOKS_CANCEL_H

#include <stdint.h>

struct cancel_buffer {
	uint64_t words[8];
};

/** weak_push - libc's _pthread_cleanup_push(); NULL if there is none */
extern void weak_push(struct cancel_buffer *buffer, void (*routine)(void *),
		      void *argument) __asm__("_pthread_cleanup_push") __attribute__((weak));

/** weak_pop - libc's _pthread_cleanup_pop(); NULL if there is none */
extern void weak_pop(struct cancel_buffer *buffer, int execute) __asm__("_pthread_cleanup_pop")
	__attribute__((weak));

/**
 * cancel_push - have ROUTINE called if this thread is cancelled
 *
 * Owns:    the caller's frame holds BUFFER until cancel_pop().
 */
static inline void cancel_push(struct cancel_buffer *buffer, void (*routine)(void *),
			       void *argument)
{
	if (weak_push && weak_pop)
		weak_push(buffer, routine, argument);
}

/**
 * cancel_pop - undo cancel_push(): the thread was not cancelled
 *
 * Context: agent.  The thread of cancel_push().
 */
static inline void cancel_pop(struct cancel_buffer *buffer)
{
	if (weak_push && weak_pop)
		weak_pop(buffer, 0);
}

#endif
