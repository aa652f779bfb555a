/* stack_names.h - names for the stacks that `wick stack` took */
#ifndef STACK_STACK_NAMES_H
#define STACK_STACK_NAMES_H

#include "base/err.h"
#include "sampler/external/stacks.h"
#include "tools/options/symbol_options.h"

struct stack_names;

/**
 * stack_names_of_process - look up what the frames of a process's stacks are
 * @stacks: outlive the names
 *
 * Waits for the names, a few seconds at most.
 *
 * Return:  0; -errno and the reason.
 * Owns:    the caller, to stack_names_free(); OPTIONS outlive the names.
 * Context: main thread, as for all of these.
 */
int stack_names_of_process(const struct symbol_options *options, pid_t pid,
			   const struct stacks *stacks, struct stack_names **ret_names,
			   struct err *err);

/**
 * stack_names_find - the frames of a stack, with the calls that were inlined
 *
 * Return:  how many.
 * Owns:    the names; good until the next call.
 * Context: main thread.
 */
size_t stack_names_find(struct stack_names *names, const struct stack *stack,
			const struct frame **ret_frames);

/**
 * stack_names_free - forget them; NULL is fine
 *
 * Context: main thread.
 */
void stack_names_free(struct stack_names *names);

#endif
