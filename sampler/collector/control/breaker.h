/* breaker.h - when the collector cannot keep up, samples are not taken for a while */
#ifndef CONTROL_BREAKER_H
#define CONTROL_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A model without a clock of its own.  Trouble is a ring that was found full, or being behind by
 * more than LATE_NS; when every look finds it for a while, there is a pause of PAUSE_NS.  One late
 * look is none: whoever was stopped, or not given a processor, catches up by looking.
 */
enum breaker_cause {
	BREAKER_NONE,
	BREAKER_FULL,   /* a ring stays full */
	BREAKER_BEHIND, /* what is taken out of the rings is not taken further, or too late */
};

struct breaker {
	uint64_t late_ns; /* 0: there is no breaker */
	uint64_t pause_ns;
	uint64_t since_ns; /* every look since then has found trouble; 0: the last one did not */
	uint32_t looks;
	uint64_t until_ns; /* of the pause; 0: there is none */
	enum breaker_cause cause;
};

/**
 * breaker_step - what one look at the rings has found
 * @full:      one was full
 * @behind_ns: how late the look was, or how old the oldest sample is that nobody has taken
 *
 * Return:  true when a pause begins (until_ns is set) or ends (until_ns is 0).
 * Context: collector thread.
 */
bool breaker_step(struct breaker *breaker, uint64_t now_ns, bool full, uint64_t behind_ns);

#endif
