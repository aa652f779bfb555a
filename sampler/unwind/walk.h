/*
 * walk.h - the steps of a walk, shared by rules and guesses
 *
 * Context: handler.
 */
#ifndef UNWIND_WALK_H
#define UNWIND_WALK_H

#include "sampler/unwind/rule.h"
#include "sampler/unwind/unwind.h"

#pragma GCC visibility push(hidden)

enum {
	WALK_ON = -1,      /* a step was made; other values are enum unwind_stop */
	WALK_ASTRAY = -2,  /* a guess led to a pc that is no return address: leave it out */
	WALK_PAST = -3,    /* the same, and a step was made */
	WALK_DESCENTS = 8, /* signal frames above what they interrupted (signal stacks) */
};

/**
 * walk_rule - the rule for a pc, from the cache or from the CFI
 * @at: the address to search for: the pc, or the byte before a return address
 *
 * Return:  never RULE_NONE.
 */
uint64_t walk_rule(struct walk *walk, uint64_t at);

/**
 * walk_signal - step over a trampoline whose ucontext is at sp
 *
 * Return:  WALK_ON, or why not.
 */
int walk_signal(struct walk *walk);

/**
 * guess_caller - step out of code without CFI
 *
 * Return:  WALK_ON, WALK_PAST, WALK_ASTRAY, UNWIND_END at a root without CFI, or UNWIND_NO_CFI.
 */
int guess_caller(struct walk *walk);

/**
 * is_root - whether code without CFI is the start of a process or a thread
 *
 * Return:  true when there is no caller.
 */
bool is_root(struct walk *walk);

/** guess_bp - find bp for a frame whose rule needs it, after a guessed step */
void guess_bp(struct walk *walk, uint64_t rule);

#pragma GCC visibility pop

#endif
