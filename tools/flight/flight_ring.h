/*
 * flight_ring.h - the last samples of a run, in memory with a bound; the oldest go first
 *
 * A frame is kept once however many stacks it is in, so that a sample costs some hundred bytes.
 */
#ifndef FLIGHT_FLIGHT_RING_H
#define FLIGHT_FLIGHT_RING_H

#include "base/sample.h"

#include <stddef.h>
#include <stdint.h>

struct flight_ring;

struct flight_ring_options {
	uint64_t window_ns; /* what is older than this before the newest is forgotten */
	size_t bytes;       /* what samples and frames may take together */
	uint32_t metrics;   /* bit i: keep metrics[i]; the others are 0 when they come back */
};

struct flight_ring_stats {
	uint64_t samples; /* in memory now */
	uint64_t bytes;
	uint64_t limit;     /* of bytes */
	uint64_t oldest_ns; /* of the first; 0: there is none */
	uint64_t newest_ns;
	uint64_t n_forced;  /* samples that went, or never came in, for want of room */
	uint64_t forced_ns; /* the time of the newest of them */
};

/**
 * flight_ring_new - empty
 *
 * Return:  the ring; NULL when memory ran out.
 * Owns:    the caller, to flight_ring_free().
 * Context: main thread, as for all of these.
 */
struct flight_ring *flight_ring_new(const struct flight_ring_options *options);

/**
 * flight_ring_add - keep a sample, and forget what is too old or one too many
 *
 * SAMPLE is copied; what its frames, its wait and its op point to outlives the ring.
 *
 * Context: main thread.
 */
void flight_ring_add(struct flight_ring *ring, const struct sample *sample);

/**
 * flight_ring_forget - forget samples taken before a moment
 *
 * Context: main thread.
 */
void flight_ring_forget(struct flight_ring *ring, uint64_t before_ns);

/**
 * flight_ring_each - visit the samples of a time, both ends included, in the order they came in
 *
 * VISIT does not change the ring; the sample and its frames hold until it returns.
 *
 * Context: main thread.
 */
void flight_ring_each(struct flight_ring *ring, uint64_t from_ns, uint64_t until_ns,
		      void (*visit)(void *context, const struct sample *sample), void *context);

/**
 * flight_ring_stats - what is in it, and what has gone for want of room
 *
 * Context: main thread.
 */
void flight_ring_stats(const struct flight_ring *ring, struct flight_ring_stats *ret_stats);

/**
 * flight_ring_free - forget everything
 *
 * Context: main thread.  NULL is fine.
 */
void flight_ring_free(struct flight_ring *ring);

#endif
