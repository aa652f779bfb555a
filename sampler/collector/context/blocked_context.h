/*
 * blocked_context.h - the context of a thread that does not run, read from outside as the handler
 * reads it inside (handler/context.c)
 *
 * Context: collector thread.
 */
#ifndef CONTEXT_BLOCKED_CONTEXT_H
#define CONTEXT_BLOCKED_CONTEXT_H

#include "sampler/wire/context.h"

#include <stdbool.h>
#include <stdint.h>

/* A struct record_context with all the data that it can have. */
union context_copy {
	struct record_context head;
	uint8_t bytes[sizeof(struct record_context) + CONTEXT_MAX_BYTES];
};

/**
 * blocked_thread_pointer - find the thread pointer of a thread above its stack pointer
 *
 * Threads of glibc and musl have their TCB at the end of their stack; a program's first thread has
 * it elsewhere.
 *
 * Return:  the thread pointer; 0: it is not there.
 */
uint64_t blocked_thread_pointer(int mem_fd, uint64_t sp);

/**
 * blocked_context_read - what a variable says of the thread with this thread pointer
 *
 * Return:  false: nothing.
 */
bool blocked_context_read(int mem_fd, uint64_t thread_pointer,
			  const struct context_variable *variable, union context_copy *ret_context);

#endif
