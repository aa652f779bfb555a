/* live_heap.h - the sampled memory that was not given back, of all processes of a recording */
#ifndef SAMPLES_LIVE_HEAP_H
#define SAMPLES_LIVE_HEAP_H

#include "base/map.h"
#include "base/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live_block;

/* What it takes at most; a block of memory takes some 250 bytes, a stack 60 a frame, once. */
#define LIVE_HEAP_BYTES ((size_t)256 * 1024 * 1024)

/* Zero it but for the first; live_heap_release() takes any state. */
struct live_heap {
	size_t limit; /* LIVE_HEAP_BYTES; a test takes less */
	struct map processes;
	struct map stacks;
	struct live_block *first; /* in the order in which the memory was taken */
	struct live_block *last;
	size_t bytes; /* that all this takes */
	size_t n_ended;
	uint64_t n_blocks;
	uint64_t weight;
	uint64_t left_out; /* samples for which there was no room, or whose process had to go */
	bool changed;      /* since somebody cleared it */
};

/**
 * live_heap_sample - memory was taken or given back
 *
 * Memory that a process held when it ended is held for ever: it is what leaked.  When there is no
 * room it goes first.
 *
 * Owns:    the caller keeps the sample; names in its frames must outlive the heap.
 * Context: main thread, as for all of these.
 */
void live_heap_sample(struct live_heap *heap, const struct sample *sample);

/**
 * live_heap_exit - a process image has ended
 *
 * Context: main thread.
 */
void live_heap_exit(struct live_heap *heap, uint32_t process);

/**
 * live_heap_each - call VISIT with a sample for everything that lives, oldest first
 *
 * Context: main thread.
 */
void live_heap_each(const struct live_heap *heap,
		    void (*visit)(void *context, const struct sample *sample), void *context);

/**
 * live_heap_release - forget everything
 *
 * Context: main thread.
 */
void live_heap_release(struct live_heap *heap);

#endif
