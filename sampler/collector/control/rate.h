/*
 * rate.h - how often samples are taken, and whether, while the recording goes on
 *
 * Context: any thread.
 */
#ifndef CONTROL_RATE_H
#define CONTROL_RATE_H

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

#endif
