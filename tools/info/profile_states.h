/* profile_states.h - what the threads of a recording were doing, and what they waited for */
#ifndef INFO_PROFILE_STATES_H
#define INFO_PROFILE_STATES_H

#include "base/buf.h"
#include "base/intern.h"
#include "base/map.h"
#include "flamescope/text/text.h"

#include <stddef.h>
#include <stdint.h>

enum { PROFILE_MAX_SHARES = 16 * 1024 };

/* One state, wait and object together.  The names are interned: equal ones are one pointer. */
struct profile_share {
	const char *state;
	const char *wait;   /* NULL: waits in nothing */
	const char *object; /* NULL: not known */
	uint64_t samples;
	uint64_t weight;
};

/* Zero is empty. */
struct profile_states {
	struct profile_share *items;
	size_t n;
	size_t room;
	struct map index;   /* of 1 + the place in items, by a hash of all three */
	uint64_t weight;    /* of the samples that say a state */
	uint64_t uncounted; /* shares beyond the limit, or without memory: their object is left out
			     */
};

/**
 * profile_states_add - count a sample; one that says no state is passed over
 * @names: keeps the words
 *
 * Context: main thread.
 */
void profile_states_add(struct profile_states *states, struct intern *names,
			const struct perf_text_sample *sample);

/**
 * profile_states_print - shares by state, wait and object, when there is more than one state
 *
 * Context: any thread.
 */
void profile_states_print(const struct profile_states *states, struct buf *buf);

/**
 * profile_states_print_json - `,"states":[...],"waits":[...],"objects":[...]`
 *
 * Context: any thread.
 */
void profile_states_print_json(const struct profile_states *states, struct buf *buf);

/**
 * profile_states_release - forget everything
 *
 * Context: main thread.
 */
void profile_states_release(struct profile_states *states);

#endif
