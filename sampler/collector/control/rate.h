/*
 * rate.h - how often samples are taken, and whether: not in pauses, which begin when the collector
 * cannot keep up
 *
 * Context: any thread.
 */
#ifndef CONTROL_RATE_H
#define CONTROL_RATE_H

#include "sampler/collector/types/options.h"
#include "sampler/collector/types/statistics.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The user sets hz and pauses; the budget makes the period longer.  Agents read both in their
 * headers; an event in the stream gives the time of each change.  A sample carries the period that
 * it was taken with, and is given in periods of hz.
 */
struct rate {
	uint32_t hz;
	uint64_t period_ns;      /* CPU time between two signals of a thread, at least that of hz */
	uint32_t pauses;         /* enum collector_pause */
	uint32_t epoch;          /* one more with every change */
	uint64_t barrier;        /* the last request that was followed */
	uint64_t paused_from_ns; /* CPU charged when the pause began, */
	uint64_t paused_ns;      /* and in the pauses before it */
};

/** rate_effective_hz - signals a second of CPU, rounded, at least 1 */
uint32_t rate_effective_hz(uint64_t period_ns);

/**
 * rate_delivered_hz - the same, at most what the source of signals can deliver
 * @most_hz: the tick of the kernel for timers; 0: any
 */
uint32_t rate_delivered_hz(const struct rate *rate, uint32_t most_hz);

/**
 * rate_paused_ns - CPU that was charged during pauses
 * @charged_ns: all of it
 */
uint64_t rate_paused_ns(const struct rate *rate, uint64_t charged_ns);

/**
 * rate_change - take hz, period and pauses of another rate
 * @charged_ns: CPU charged so far: it belongs to the rate before
 */
void rate_change(struct rate *rate, const struct rate *to, uint64_t charged_ns);

/*
 * A model without a clock of its own.  A cause for a pause is a full ring, or a lag of more than
 * LATE_NS.  If every check finds a cause for a while, a pause of PAUSE_NS begins.  One late check
 * is not enough: a collector that was stopped or preempted catches up by itself.
 */
enum breaker_cause {
	BREAKER_NONE,
	BREAKER_FULL, /* a ring stays full */
	BREAKER_LAG,  /* what is taken out of the rings is not taken further, or too late */
};

struct breaker {
	uint64_t late_ns; /* 0: there is no breaker */
	uint64_t pause_ns;
	uint64_t since_ns; /* every check since then found a cause; 0: the last one did not */
	uint32_t checks;
	uint64_t until_ns; /* of the pause; 0: there is none */
	enum breaker_cause cause;
};

/* Zero it and set the limits of the breaker. */
struct lag {
	struct breaker breaker;
	uint64_t last_pass_ns; /* start of the last pass */
	uint64_t charged_ns;   /* CPU of the sampled processes then */
	uint64_t lost_ns;      /* of it, what passed in pauses */
};

/* One pass over the rings. */
struct lag_inputs {
	uint64_t start_ns;
	uint64_t due_ns;    /* when it should have started; 0: not known */
	uint64_t oldest_ns; /* of the events that wait in the queue; 0: none does */
	double fill;        /* of the fullest ring, 0 .. 1 */
	uint64_t charged_ns;
	uint32_t hz;
	uint32_t pauses; /* enum collector_pause */
};

/**
 * breaker_step - one check of the rings
 * @full:      one was full
 * @lag_ns: how late the check was, or the age of the oldest sample in the queue
 *
 * Return:  true when a pause begins (until_ns is set) or ends (until_ns is 0).
 * Context: collector thread.
 */
bool breaker_step(struct breaker *breaker, uint64_t now_ns, bool full, uint64_t lag_ns);

/**
 * lag_check - a pass is over: whether a pause begins or ends
 *
 * CPU that was not sampled meanwhile is counted as lost_pause.  Agents stop when there is no pass
 * for 5 s: so long a gap is counted too.
 *
 * Return:  true: the pause begins (breaker.until_ns is set) or ends.
 * Context: collector thread.
 */
bool lag_check(struct lag *lag, const struct lag_inputs *inputs, struct collector_stats *stats);

#endif
