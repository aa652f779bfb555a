/* perf_ring.h - the kernel's part of stacks, from the ring of a perf event */
#ifndef PERF_PERF_RING_H
#define PERF_PERF_RING_H

#include <stddef.h>
#include <stdint.h>

enum {
	PERF_RING_PAGES = 16, /* of a thread, for the kernel part of its stacks */
};

enum { PERF_RING_FRAMES = 64 };

/* Zero: there is none. */
struct perf_ring {
	void *map;
	uint32_t n_pcs;
	uint64_t pcs[PERF_RING_FRAMES]; /* of the stack that was taken last */
};

/**
 * perf_ring_init - map the ring of an event that was opened with frames
 *
 * Return:  0; -EPERM: over the limit of locked memory; -errno.
 * Context: collector thread.
 */
int perf_ring_init(struct perf_ring *ret_ring, int fd);

/**
 * perf_ring_release - unmap it
 *
 * Context: collector thread.
 */
void perf_ring_release(struct perf_ring *ring);

/**
 * perf_ring_frames - the kernel's frames of the sample that was taken at TIME_NS
 *
 * The event's overflow is before the handler's clock.  Of several stacks until then the last is
 * the sample's; the others' signals were merged into it.
 *
 * Return:  how many, innermost first; 0: the thread was not in the kernel.
 * Owns:    the ring, until the next call.
 * Context: collector thread.  With times that only grow.
 */
uint32_t perf_ring_frames(struct perf_ring *ring, uint64_t time_ns, const uint64_t **ret_pcs);

#endif
