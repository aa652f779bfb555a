/*
 * event.h - something that happened, on its way from a ring to collector_next(): put in the order
 * of time, then in the bounded queue from the drain thread to the main thread
 *
 * Context: collector thread, unless a function says otherwise.
 */
#ifndef EVENT_EVENT_H
#define EVENT_EVENT_H

#include "base/sample.h"
#include "sampler/collector/types/options.h"
#include "sampler/collector/types/statistics.h"
#include "sampler/wire/record.h"

#include <pthread.h>
#include <stdatomic.h>
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
	uint16_t n_waker;   /* pcs of the waker, after the sample's own */
	uint32_t waker_tid; /* 0: not known */
	uint16_t n_labels;
	uint16_t label_bytes; /* key, NUL, value, NUL, and so on: event_labels() */
	bool profiled;        /* one of them is "function" */
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

/* One allocation: what follows the struct is pcs[] of a sample, with its labels at the end, or the
 * path of a mapping. */
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

/** event_labels - the texts of a sample's labels, at the end of its allocation */
static inline char *event_labels(const struct event *node)
{
	return (char *)(uintptr_t)node + node->bytes - node->sample.label_bytes;
}

/**
 * lock_event_holds - what decode_next() checks of a HOOK_LOCK beyond any event
 *
 * Return:  whether its extra says what there is.
 */
bool lock_event_holds(const struct record_event *event);

/**
 * lock_event_fill - make a checked HOOK_LOCK of an event's sample, with all its pcs
 *
 * Its weight is microseconds, 1 at least; its state is sleeping; n_pcs shrinks to the waiter's own
 * frames, and the waker's pcs follow them.
 */
void lock_event_fill(struct event_sample *sample, const struct record_event *event);

enum {
	QUEUE_GATHER = 64, /* samples that wake the main thread */
};

/*
 * The drain thread puts, the main thread takes.  Nodes count against the limit from the moment
 * they are made (queue_admit()), so what is held back for sorting is bounded with the rest.
 */
struct queue {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct event *first;
	struct event **last;
	struct event *put; /* the drain thread's: not handed over yet, in order */
	struct event **put_last;
	size_t limit;
	uint64_t gather_ns;  /* a few samples wait so long for others */
	uint64_t offered_ns; /* the drain thread's: when it handed over last, */
	size_t n_samples;    /* what was put since, */
	bool pressing;       /* and whether there is anything else */
	_Atomic size_t bytes;
	bool nudged;
};

/* A binary heap, in which events of all processes go in.  Zero is an empty one. */
struct event_order {
	struct event **nodes;
	size_t n;
	size_t size;
	uint64_t sequence;
	struct queue *queue; /* which admits them, */
	struct collector_stats *stats;
};

/**
 * event_order_insert - insert an event
 *
 * Events of equal time come out by kind, and of equal kind in the order they were put in.
 *
 * Return:  0; -ENOMEM.
 * Owns:    the order has the event on success.
 */
int event_order_insert(struct event_order *merge, struct event *node);

/**
 * event_order_pop - the earliest node, if its time is not after LAST_NS
 *
 * Return:  the node; NULL.
 * Owns:    the caller has the node.
 */
struct event *event_order_pop(struct event_order *merge, uint64_t last_ns);

/** event_order_release - free every node that is left */
void event_order_release(struct event_order *merge);

/**
 * event_order_push - hand in what happened, in any order of time
 *
 * An event that does not fit is dropped; dropped samples are counted.
 *
 * Owns:    the sink has the node; NULL is fine (memory ran out: counted as lost).
 */
void event_order_push(struct event_order *sink, struct event *node);

/**
 * queue_init - an empty queue for LIMIT bytes of nodes
 *
 * Return:  0; -errno.
 * Context: main thread.
 */
int queue_init(struct queue *queue, size_t limit);

/**
 * queue_release - free what is left
 *
 * Context: main thread, when no other thread uses the queue.
 */
void queue_release(struct queue *queue);

/**
 * queue_admit - count a node that is about to be queued
 *
 * Samples are refused over the limit; what names them is refused only over twice the limit, and
 * ends never.
 *
 * Return:  false when it has to be dropped.
 */
bool queue_admit(struct queue *queue, const struct event *node);

/**
 * queue_forget - free a node that was admitted and is not given to anybody
 *
 * Context: any thread.
 */
void queue_forget(struct queue *queue, struct event *node);

/**
 * queue_put - append an admitted node; it is seen when queue_hand_over() has been called
 *
 * Owns:    the queue has the node.
 */
void queue_put(struct queue *queue, struct event *node);

/** queue_hand_over - let the main thread have what was put, and wake it once */
void queue_hand_over(struct queue *queue);

/**
 * queue_offer - the same, unless it is worth while to wait for more
 * @now_ns: never less than in the call before
 *
 * A few samples alone wake the main thread every gather_ns; anything else does at once.
 */
void queue_offer(struct queue *queue, uint64_t now_ns);

/**
 * queue_nudge - have queue_take() return, now or when it is called next, whatever is there
 *
 * Context: any thread.
 */
void queue_nudge(struct queue *queue);

/**
 * queue_take - the oldest node
 * @timeout_ns: how long to wait for one
 *
 * Return:  the node; NULL when the time passed, or queue_nudge() was called.
 * Owns:    the caller has the node, to queue_forget().
 * Context: main thread.
 */
struct event *queue_take(struct queue *queue, uint64_t timeout_ns);

/**
 * queue_oldest_ns - the time of the sample that waits longest
 *
 * Return:  0 when the first that waits is none.
 * Context: any thread.
 */
uint64_t queue_oldest_ns(struct queue *queue);

#endif
