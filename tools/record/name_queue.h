/*
 * name_queue.h - samples on their way to the file, in order, waiting for names
 *
 * Context: main thread.
 */
#ifndef RECORD_NAME_QUEUE_H
#define RECORD_NAME_QUEUE_H

#include "base/sample.h"
#include "sampler/collector/collector.h"
#include "symbolize/symbolize.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct name_queue_item;

/*
 * A sample waits at most NAME_QUEUE_WAIT_NS for its modules to be loaded, then it goes on with
 * module+offset.  Zero it but for the first four.
 */
struct name_queue {
	struct symbolizer *symbolizer;
	void (*deliver)(void *context, const struct sample *sample);
	void (*pass)(void *context, const struct collector_rate *rate);
	void *context;
	struct name_queue_item *first;
	struct name_queue_item *last;
	size_t bytes;
	uint64_t tried_ns;        /* when the first was last resolved in vain */
	uint64_t unnamed_frames;  /* that went without a name for lack of time or space */
	uint64_t unnamed_samples; /* that they belong to */
};

#define NAME_QUEUE_WAIT_NS  UINT64_C(5000000000)
#define NAME_QUEUE_DRAIN_NS UINT64_C(1500000000) /* at the end, for all */
enum { NAME_QUEUE_BYTES = 64 * 1024 * 1024 };

/**
 * name_queue_add - deliver a sample, now or once its names are there and its turn has come
 * @sample: its frames are resolved in place
 */
void name_queue_add(struct name_queue *queue, struct sample *sample, uint64_t now_ns);

/** name_queue_exit - tell the symbolizer that a process has ended, after its last sample */
void name_queue_exit(struct name_queue *queue, uint32_t process);

/** name_queue_pass - have a change of the rate known after the samples before it */
void name_queue_pass(struct name_queue *queue, const struct collector_rate *rate);

/** name_queue_advance - deliver what has its names by now, or has waited long enough */
void name_queue_advance(struct name_queue *queue, uint64_t now_ns);

/**
 * name_queue_due_ns - when name_queue_advance() next has something to do
 *
 * It checks for names every 10 ms while they are being read.
 *
 * Return:  ns; UINT64_MAX: nothing waits.
 */
uint64_t name_queue_due_ns(const struct name_queue *queue, uint64_t now_ns);

/** name_queue_drain - wait for the names of what is left, at most the usual time, and deliver it */
void name_queue_drain(struct name_queue *queue);

#endif
