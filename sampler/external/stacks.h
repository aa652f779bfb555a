/* stacks.h - the stack of every thread of a process, once, from outside */
#ifndef EXTERNAL_STACKS_H
#define EXTERNAL_STACKS_H

#include "base/err.h"
#include "base/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* How a stack was come by. */
enum stack_how {
	STACK_READ,    /* while the thread was blocked: neither signal nor stop */
	STACK_STOPPED, /* the thread ran, and was held for a moment */
	STACK_NONE,    /* not at all: why says it */
};

struct stack {
	uint32_t tid;
	char comm[SAMPLE_COMM_SIZE]; /* "" not known */
	enum sample_state state;
	const char *wait;                /* what it waits in; NULL: it does not; static */
	char object[SAMPLE_OBJECT_SIZE]; /* what it waits for; "" not known */
	enum stack_how how;
	const char *why; /* STACK_NONE, or one that does not reach its end; "" otherwise; static */
	struct frame *frames; /* addr and exact */
	size_t n_frames;
};

/* Zero is none. */
struct stacks {
	struct stack *at; /* by tid */
	size_t n;
	size_t size;
	char comm[SAMPLE_COMM_SIZE]; /* of the process */
	uint32_t n_stopped;          /* how many threads were held */
	uint64_t longest_stop_ns;    /* and the longest of them */
};

/**
 * stacks_take - take the stack of every thread of a process
 * @may_stop: threads that run are held for a moment; without it they have no stack
 *
 * Threads that come or go meanwhile may be missing.
 *
 * Return:  0; -ESRCH: there is no such process; -EPERM: it may not be read; -EINVAL: it is a
 *          thread, a zombie or the kernel's own; the reason in ERR.
 * Owns:    the caller; stacks_release().
 * Context: main thread.
 */
int stacks_take(pid_t pid, bool may_stop, struct stacks *ret_stacks, struct err *err);

/**
 * stacks_release - give the memory back
 *
 * Context: main thread.
 */
void stacks_release(struct stacks *stacks);

#endif
