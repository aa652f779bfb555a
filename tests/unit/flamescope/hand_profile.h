/* hand_profile.h - profiles made by hand, sample by sample, for tests of what reads them */
#ifndef HAND_PROFILE_H
#define HAND_PROFILE_H

#include "flamescope/pair_map.h"
#include "flamescope/profile.h"
#include "flamescope/query/query.h"

/* Zero is: time 0, thread "app" 1/1, no state, CPU 0, the only event, weight 1, no metric. */
struct hand_sample {
	uint64_t time_ns;  /* since the profile's start; never before the last one */
	const char *stack; /* "main;f;g", outermost first; NULL: none */
	const char *comm;
	int32_t pid;
	int32_t tid;
	const char *state; /* tag "state" */
	const char *wait;  /* tag "wait" */
	uint64_t weight;
	uint16_t cpu;
	bool measured; /* has VALUE and DELTA of the metric "bytes" */
	int64_t value;
	int64_t delta;
};

struct hand_profile {
	struct profile profile;
	struct pair_map nodes;
	size_t size; /* samples that there is room for */
	struct selection *selection;
};

/* A test whose *STATE is a profile without samples. */
#define hand_profile_test(test)                                                                    \
	cmocka_unit_test_setup_teardown(test, hand_profile_begin, hand_profile_end)

/**
 * hand_profile_begin, hand_profile_end - the set-up and the tear-down of a hand_profile_test()
 *
 * Context: main thread.
 */
int hand_profile_begin(void **state);
int hand_profile_end(void **state);

/**
 * hand_profile_init - a profile without samples
 *
 * Owns:    the caller, to hand_profile_release().
 * Context: main thread.
 */
void hand_profile_init(struct hand_profile *hand, uint64_t start_ns);

/**
 * hand_profile_add - one more sample
 *
 * Context: main thread.
 */
void hand_profile_add(struct hand_profile *hand, const struct hand_sample *sample);

/**
 * hand_profile_stack - a stack of N frames of one function
 *
 * Return:  its node, for profile.stacks.
 * Context: main thread.
 */
uint32_t hand_profile_stack(struct hand_profile *hand, const char *function, size_t n);

/**
 * hand_profile_frame - the frame of a function
 *
 * Return:  its number.
 * Context: main thread.
 */
uint32_t hand_profile_frame(struct hand_profile *hand, const char *function);

/**
 * hand_profile_select - the samples that a query takes; the test fails if it is refused
 *
 * Return:  the selection.
 * Owns:    the profile; good until the next one.
 * Context: main thread.
 */
struct selection *hand_profile_select(struct hand_profile *hand, const struct query *query);

/**
 * hand_profile_release - forget it
 *
 * Context: main thread.
 */
void hand_profile_release(struct hand_profile *hand);

#endif
