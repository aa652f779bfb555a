/* start_offset.h - where in a period an image begins, and what ended images left unsampled */
#ifndef PROCESS_START_OFFSET_H
#define PROCESS_START_OFFSET_H

#include "sampler/collector/process/process.h"

#include <stdint.h>

/*
 * An image begins at a random place in a period, so that a process shorter than one is sampled as
 * often as its CPU deserves.  But the kernel looks at CPU timers only at its tick: an expiry
 * between the last tick and the end is never seen.  Those whole periods are counted here and weigh
 * on the first sample of the next image, as sampler/handler/account.h does for threads.
 */
struct start_offset {
	int64_t missed_ns; /* may be a few periods below 0 */
	uint64_t tick_ns;  /* of the kernel */
	uint64_t random;
	uint32_t n; /* images that have begun */
	uint32_t turn;
};

/**
 * start_offset_begin - tell an image where to begin; before its descriptor is sent
 *
 * Context: collector thread.
 */
void start_offset_begin(struct start_offset *offset, struct process *process);

/**
 * start_offset_end - count what an image missed, if it said at its end how much CPU it had used
 *
 * Context: collector thread.  The process has been charged and drained.
 */
void start_offset_end(struct start_offset *offset, const struct process *process);

#endif
