/* event_order.h - nodes of all slots and processes, put in the order of their times */
#ifndef EVENT_EVENT_ORDER_H
#define EVENT_EVENT_ORDER_H

#include "sampler/collector/event/event.h"
#include "sampler/collector/event/queue.h"

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
 * event_order_insert - put a node in
 *
 * Nodes of equal time come out by kind, and of equal kind in the order they were put in.
 *
 * Return:  0; -ENOMEM.
 * Owns:    the merge has the node on success.
 * Context: collector thread.
 */
int event_order_insert(struct event_order *merge, struct event *node);

/**
 * event_order_pop - the earliest node, if its time is not after LAST_NS
 *
 * Return:  the node; NULL.
 * Owns:    the caller has the node.
 * Context: collector thread.
 */
struct event *event_order_pop(struct event_order *merge, uint64_t last_ns);

/**
 * event_order_release - free every node that is left
 *
 * Context: collector thread.
 */
void event_order_release(struct event_order *merge);

/**
 * event_order_push - hand in what happened, in any order of time
 *
 * What the queue has no room for is dropped and, when it is a sample, counted.
 *
 * Owns:    the sink has the node; NULL is fine (memory ran out: counted as lost).
 * Context: collector thread.
 */
void event_order_push(struct event_order *sink, struct event *node);

#endif
