/* stack_print.h - the stacks of a process, as people and as programs read them */
#ifndef STACK_STACK_PRINT_H
#define STACK_STACK_PRINT_H

#include "base/buf.h"
#include "sampler/external/stacks.h"
#include "tools/stack/stack_names.h"

#include <stdint.h>

/* Whose stacks they are. */
struct stack_print {
	pid_t pid;
	const char *comm;
	uint64_t spent_ns;
	const struct stacks *stacks;
	struct stack_names *names;
};

/**
 * stack_print_text - a paragraph a thread
 *
 * Context: main thread, as for all of these.
 */
void stack_print_text(const struct stack_print *print, struct buf *buf);

/**
 * stack_print_json - one object, in one line
 *
 * Context: main thread.
 */
void stack_print_json(const struct stack_print *print, struct buf *buf);

#endif
