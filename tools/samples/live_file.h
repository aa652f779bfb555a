/* live_file.h - the file of --live: what is still allocated, as of now */
#ifndef SAMPLES_LIVE_FILE_H
#define SAMPLES_LIVE_FILE_H

#include "base/map.h"
#include "base/sample.h"
#include "output/files/recording.h"
#include "sampler/collector/collector.h"
#include "tools/options/event_list.h"
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

/* Zero it: then there is no such file, and every call does nothing. */
struct live_file {
	struct live_heap heap;
	struct snapshot *snapshot;
	char *path;      /* as -o would give it */
	uint64_t due_ns; /* not written before */
	uint64_t flush_ns;
};

/**
 * live_file_open - make it
 * @like: the main file's options
 *
 * The name is that of the main file with ".live" before its ending.
 *
 * Return:  0; -errno and the reason.
 * Owns:    live_file_release().
 * Context: main thread, as for all of these.
 */
int live_file_open(struct live_file *file, const struct recording_options *like,
		   const struct event_list *list, struct err *err);

/**
 * live_file_sample - follow a sample of memory; others are nothing to it
 * @kept: false: an option leaves it out; a release counts all the same
 *
 * Context: main thread.
 */
void live_file_sample(struct live_file *file, const struct sample *sample, bool kept);

/**
 * live_file_tick - write it anew when it is due and something has changed
 *
 * Due is it a flush after the last time, or later: writing takes a twentieth of the time at most.
 *
 * Context: main thread.
 */
void live_file_tick(struct live_file *file, struct collector *collector, uint64_t now_ns);

/**
 * live_file_due_ns - when live_file_tick() next has something to do
 *
 * Return:  ns; UINT64_MAX: nothing has changed.
 * Context: main thread.
 */
uint64_t live_file_due_ns(const struct live_file *file);

/**
 * live_file_finish - write it for the last time
 *
 * Context: main thread.
 */
void live_file_finish(struct live_file *file, struct collector *collector);

/**
 * live_file_release - forget everything; the file stays
 *
 * Context: main thread.
 */
void live_file_release(struct live_file *file);

#endif
