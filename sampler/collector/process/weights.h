/*
 * weights.h - what samples weigh: start offsets and residuals of images, periods of the file
 *
 * Context: collector thread, unless a function says otherwise.
 */
#ifndef PROCESS_WEIGHTS_H
#define PROCESS_WEIGHTS_H

#include "base/sample.h"
#include "sampler/collector/process/process.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * An image begins at a random place in a period, so that a process shorter than a period is sampled
 * in proportion to its CPU time.  But the kernel checks CPU timers only at its tick: an expiry
 * between the last tick and the end gives no signal.  These whole periods are added to the first
 * sample of a later image.
 */
struct weights {
	int64_t residual_ns; /* of ended images; may be a few periods below 0 */
	uint64_t tick_ns;    /* of the kernel */
	uint64_t random;
	uint32_t n; /* images that have begun */
	uint32_t turn;
};

/**
 * weights_begin_image - tell an image its start offset; before its descriptor is sent
 *
 * The residual of ended images goes to this one.  Its timer has then already expired when it
 * begins, so that the first tick takes a sample.
 */
void weights_begin_image(struct weights *weights, struct process *process);

/**
 * weights_end_image - add the residual of an image that reported its CPU time at its end
 *
 * Context: collector thread.  The process has been charged and drained.
 */
void weights_end_image(struct weights *weights, const struct process *process);

/** weights_add_residual - add whole periods of the process's residual to the next sample */
void weights_add_residual(struct process *process, struct record_sample *sample);

/**
 * weights_convert - convert a weight from the period of the sample to that of the file
 * @thread: NULL: not known
 * @base_ns: the period of the file; 0: weights are left as they are
 *
 * The residual goes to the thread's next sample.  The first one begins at a random place, so that
 * few samples are right as well.
 *
 * Return:  false when there is not a whole period yet.
 */
bool weights_convert(struct thread *thread, struct event_sample *sample, uint64_t time_ns,
		     uint64_t base_ns);

#endif
