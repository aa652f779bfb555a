/* callers.h - whether the call in front of a return address can have entered a function */
#ifndef REMOTE_CALLERS_H
#define REMOTE_CALLERS_H

#include "sampler/remote/remote.h"

/* A function, as its FDE has it, with the rule for the address that it was looked up by. */
struct callers_function {
	uint64_t begin;
	uint64_t end;
	uint64_t rule;
};

enum belief {
	NOT_A_RETURN,
	CALLS_ELSEWHERE, /* a direct call of something else, which does not jump here */
	CALLS_SOMETHING, /* an indirect call, or one of something that jumps who knows where */
	CALLS_US, /* a direct call, maybe by a linker's stub or of what jumps here at its end */
};

/**
 * callers_function - the function at an address
 *
 * Return:  false when no FDE covers it.
 * Context: collector thread.
 */
bool callers_function(struct remote *remote, uint64_t at, struct callers_function *ret);

/**
 * callers_believe - whether PC can be the return address of a call that CALLED is the callee of
 *
 * Context: collector thread.
 */
enum belief callers_believe(struct remote *remote, uint64_t pc,
			    const struct callers_function *called);

#endif
