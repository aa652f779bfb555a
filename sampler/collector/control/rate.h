/* rate.h - how often samples are taken, and whether, while the recording goes on */
#ifndef CONTROL_RATE_H
#define CONTROL_RATE_H

#include "sampler/collector/collector.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct collector;
struct drain;
struct process;

/*
 * The user says how often (hz, and whether at all), and the budget makes the period longer.
 * Agents are told by their headers; a node in the stream tells from which time on.  A sample
 * carries the period that it was taken with, and is given in periods of hz.
 */
struct rate {
	uint32_t hz;
	uint64_t period_ns;      /* CPU time between two signals of a thread, at least that of hz */
	uint32_t pauses;         /* enum collector_pause */
	uint32_t epoch;          /* one more with every change */
	uint64_t mark;           /* the last wish that was followed */
	uint64_t paused_from_ns; /* CPU charged when the pause began, */
	uint64_t paused_ns;      /* and in the pauses before it */
};

/* What the main thread wants; the drain thread follows when it looks. */
struct rate_wish {
	pthread_mutex_t lock;
	uint32_t hz;
	bool paused;
	uint64_t mark; /* one more with every wish */
};

/**
 * rate_effective_hz - signals a second of CPU, rounded, at least 1
 *
 * Context: any thread.
 */
uint32_t rate_effective_hz(uint64_t period_ns);

/**
 * rate_paused_ns - CPU that was charged while samples were not wanted
 * @charged_ns: all of it
 *
 * Context: collector thread.
 */
uint64_t rate_paused_ns(const struct rate *rate, uint64_t charged_ns);

/**
 * rate_begin - tell a new image, before its descriptor is sent
 *
 * Context: collector thread.
 */
void rate_begin(const struct rate *rate, struct process *process);

/**
 * rate_is_as_begun - whether nothing has changed since the image began
 *
 * Context: collector thread.
 */
bool rate_is_as_begun(const struct process *process);

/**
 * rate_follow_wish - do what the main thread has asked for
 *
 * Return:  whether there was anything; its end is in the stream then.
 * Context: collector thread.
 */
bool rate_follow_wish(struct collector *collector);

/**
 * rate_lower - signals come EFFECTIVE_HZ times a second of CPU, weights are as before
 * @effective_hz: at most the rate that was asked for
 *
 * Context: collector thread.
 */
void rate_lower(struct collector *collector, double effective_hz);

/**
 * rate_delivered_hz - signals a second of CPU now: by timers no more than the kernel's tick has
 *
 * Context: collector thread.
 */
uint32_t rate_delivered_hz(const struct drain *drain);

/**
 * rate_tell - a mark in the stream: samples come by another engine from here on
 *
 * Context: collector thread.
 */
void rate_tell(struct collector *collector);

/**
 * rate_break - a pause that is nobody's wish, or its end
 *
 * Context: collector thread.
 */
void rate_break(struct collector *collector, bool pause);

#endif
