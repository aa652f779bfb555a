/* event.h - something that happened, on its way from a ring to collector_next() */
#ifndef EVENT_EVENT_H
#define EVENT_EVENT_H

#include "base/sample.h"
#include "sampler/collector/types/options.h"
#include "sampler/collector/types/statistics.h"
#include "sampler/wire/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process;

/* In the order in which they are given when their times are equal. */
enum event_kind {
	EVENT_KIND_MAPPING,
	EVENT_KIND_THREAD, /* a thread's name; stays inside */
	EVENT_KIND_SAMPLE,
	EVENT_KIND_RATE,
	EVENT_KIND_GONE, /* a thread ended; stays inside */
	EVENT_KIND_EXIT,
	EVENT_KIND_END,
};

struct event_sample {
	uint32_t tid;
	uint32_t cpu;
	uint64_t weight;
	uint64_t period_ns; /* what it is counted in; 0: what it is given in */
	enum sample_event event;
	enum sample_state state;
	const char *wait; /* static; NULL: it runs */
	char object[SAMPLE_OBJECT_SIZE];
	const char *op; /* static; of memory */
	uint16_t n_pcs;
	uint16_t n_kernel;  /* the first of them, addresses of the kernel's */
	uint16_t n_waker;   /* pcs of the waker, behind the sample's own */
	uint32_t waker_tid; /* 0: not known */
	bool has_metrics;
	bool truncated;
	uint8_t stop;
	char comm[SAMPLE_COMM_SIZE];
	struct metric_value metrics[SAMPLE_MAX_METRICS]; /* enum metric_id, then gauges */
};

struct event_thread {
	uint32_t tid;
	char comm[SAMPLE_COMM_SIZE];
};

/* One allocation: what follows the struct is pcs[] of a sample, or the path of a mapping. */
struct event {
	struct event *next;
	uint64_t time_ns;
	uint64_t sequence;
	size_t bytes; /* of the allocation */
	enum event_kind kind;
	uint32_t process_number;
	pid_t pid;
	struct process *process; /* the drain thread's; not to be followed after the queue */
	union {
		struct event_sample sample;
		struct event_thread thread;
		struct mapping mapping;
		struct collector_rate rate;
		int ended_by; /* EVENT_KIND_EXIT */
	};
	uint64_t pcs[];
};

/**
 * lock_event_holds - what decode_next() checks of a HOOK_LOCK beyond any event
 *
 * Return:  whether its extra says what there is.
 * Context: collector thread.
 */
bool lock_event_holds(const struct record_event *event);

/**
 * lock_event_fill - make a checked HOOK_LOCK of an event's sample, whose pcs are all there
 *
 * Its weight is microseconds, 1 at least; its state is sleeping; n_pcs shrinks to the waiter's own
 * frames, and the waker's stand behind them.
 *
 * Context: collector thread.
 */
void lock_event_fill(struct event_sample *sample, const struct record_event *event);

#endif
