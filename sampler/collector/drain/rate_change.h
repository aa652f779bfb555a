/*
 * rate_change.h - applies the rate, pauses and budget to all processes
 *
 * Context: collector thread, unless a function says otherwise.
 */
#ifndef DRAIN_RATE_CHANGE_H
#define DRAIN_RATE_CHANGE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct collector;

/* What the main thread requests; the drain thread does it when it wakes up. */
struct rate_request {
	pthread_mutex_t lock;
	uint32_t hz;
	bool paused;
	uint64_t barrier; /* one more with every request */
};

/**
 * rate_request - ask for another rate, a pause or its end, or only for a barrier
 * @hz: NULL: as it is; @paused: the same
 *
 * Return:  the barrier of the request.
 * Context: main thread.
 */
uint64_t rate_request(struct collector *collector, const uint32_t *hz, const bool *paused);

/**
 * rate_follow_request - do what the main thread requested
 *
 * Return:  whether there was a request; its barrier is in the stream then.
 */
bool rate_follow_request(struct collector *collector);

/**
 * rate_change_init - the first rate is what the known price of a signal allows
 *
 * Context: main thread, before the drain thread runs.
 */
void rate_change_init(struct collector *collector);

/**
 * rate_change_by_budget - lower the rate, or raise it again, when that is due
 *
 * Context: collector thread, after every pass.
 */
void rate_change_by_budget(struct collector *collector);

/**
 * rate_change_by_lag - a pass is over: begin or end a pause of the breaker
 * @start_ns: when the pass began
 * @fill:     how full the fullest ring was, 0 .. 1
 */
void rate_change_by_lag(struct collector *collector, uint64_t start_ns, double fill);

/** rate_change_program_ns - what sampling has cost programs so far */
uint64_t rate_change_program_ns(struct collector *collector);

#endif
