/*
 * perf_threads.h - engine perf: an event for every thread of a process that has a slot
 *
 * Context: collector thread.
 */
#ifndef PROCESS_PERF_THREADS_H
#define PROCESS_PERF_THREADS_H

#include "sampler/collector/perf/perf_open.h"
#include "sampler/wire/ring.h"

#include <stdbool.h>
#include <stdint.h>

struct collector_options;
struct collector_stats;
struct perf_ring;
struct process;

/*
 * The collector opens the events from outside, so no descriptor of one is ever in the target.
 * A thread begins on its own timer; when a pass finds its slot, the event takes over.  The slots
 * are the target's to write: a tid counts once it was the same thread of that very process, in
 * that very image, before the event was opened and after.
 */
struct perf_thread {
	int fd_plus_1; /* 0: none */
	uint32_t tid;
	bool paused;
	uint64_t period;    /* as it was set last */
	uint64_t n_samples; /* of the slot, when the period was checked last */
	uint64_t counted;   /* of a counted event: what samples have stood for */
	uint64_t seen;      /* its count when its rate was last measured, */
	uint64_t seen_ns;   /* and when that was */
	uint64_t retry_ns;  /* one that could not be opened is tried again then */
	struct perf_ring *ring;
};

/* What a process's events need to know of it. */
struct perf_process {
	bool on;              /* its threads are to have events */
	uint64_t stack_start; /* of the image; 0: it is unknown, so no event is opened */
	bool off;             /* the image is about to be replaced, or to stop: no events */
	bool paused;          /* as all threads were told last */
	bool all;             /* also scan unchanged slots */
	uint64_t left;        /* counted in threads that have ended, and no sample stands for it */
	bool counted;         /* samples stand for what has happened, not for CPU */
};

/**
 * perf_process_init - tell an image that has sent a handshake which engine it has, while it waits
 */
void perf_process_init(struct process *process, enum ring_engine engine,
		       const struct collector_options *options);

/** perf_process_switch - give the threads of a process events from now on, or no longer */
void perf_process_switch(struct process *process, bool on);

/**
 * perf_threads_scan - open events for threads that have none, close those of threads that ended
 *
 * Of the slots that process_drain() has drained since, or of all when all are to change.
 *
 * Pauses and periods follow the header's, periods when a thread has given a sample.
 */
void perf_threads_scan(struct process *process, const struct perf_how *how,
		       struct collector_stats *stats);

/**
 * perf_threads_off - close all events, and open none before perf_threads_on()
 *
 * Once it returns no signal of theirs is on its way but those that are pending already.
 */
void perf_threads_off(struct process *process);

/** perf_threads_on - the image goes on after all */
void perf_threads_on(struct process *process);

/** perf_thread_close - the thread of a slot has ended */
void perf_thread_close(struct process *process, uint32_t slot);

/**
 * perf_thread_settle - what N_SAMPLES of a counted event stand for together
 *
 * With what threads of the process that have ended since left over.
 *
 * Return:  how often it has happened since the last time; at least N_SAMPLES.
 */
uint64_t perf_thread_settle(struct perf_process *perf, struct perf_thread *thread,
			    uint64_t n_samples);

#endif
