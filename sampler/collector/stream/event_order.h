/* event_order.h - nodes of all slots and processes, put in the order of their times */
#ifndef STREAM_EVENT_ORDER_H
#define STREAM_EVENT_ORDER_H

#include "sampler/collector/stream/event.h"

/* A binary heap.  Zero is an empty one. */
struct merge {
	struct node **nodes;
	size_t n;
	size_t size;
	uint64_t sequence;
};

/**
 * merge_push - put a node in
 *
 * Nodes of equal time come out by kind, and of equal kind in the order they were put in.
 *
 * Return:  0; -ENOMEM.
 * Owns:    the merge has the node on success.
 * Context: collector thread.
 */
int merge_push(struct merge *merge, struct node *node);

/**
 * merge_pop - the earliest node, if its time is not after LAST_NS
 *
 * Return:  the node; NULL.
 * Owns:    the caller has the node.
 * Context: collector thread.
 */
struct node *merge_pop(struct merge *merge, uint64_t last_ns);

/**
 * merge_release - free every node that is left
 *
 * Context: collector thread.
 */
void merge_release(struct merge *merge);

#endif
