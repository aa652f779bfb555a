/* queue.h - the bounded way from the drain thread to collector_next() */
#ifndef EVENT_QUEUE_H
#define EVENT_QUEUE_H

#include "sampler/collector/event/event.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

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
 * Context: main thread, when nobody else uses the queue.
 */
void queue_release(struct queue *queue);

/**
 * queue_admit - count a node that is about to be queued
 *
 * Samples are refused over the limit; what names them is refused only over twice the limit, and
 * ends never.
 *
 * Return:  false when it has to be dropped.
 * Context: collector thread.
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
 * Context: collector thread.
 */
void queue_put(struct queue *queue, struct event *node);

/**
 * queue_hand_over - let the main thread have what was put, and wake it once
 *
 * Context: collector thread.
 */
void queue_hand_over(struct queue *queue);

/**
 * queue_offer - the same, unless it is worth while to wait for more
 * @now_ns: never less than in the call before
 *
 * A few samples alone wake the main thread every gather_ns; anything else does at once.
 *
 * Context: collector thread.
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
