/* event_order.c - events of all rings in the order of time: a heap */
#include "sampler/collector/event/event.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

static bool before(const struct event *a, const struct event *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	if (a->kind != b->kind)
		return a->kind < b->kind;
	return a->sequence < b->sequence;
}

int event_order_insert(struct event_order *merge, struct event *node)
{
	size_t i = merge->n;

	if (array_reserve(&merge->nodes, merge->n, &merge->size, 256) < 0)
		return -ENOMEM;
	node->sequence = merge->sequence++;
	for (; i > 0 && before(node, merge->nodes[(i - 1) / 2]); i = (i - 1) / 2)
		merge->nodes[i] = merge->nodes[(i - 1) / 2];
	merge->nodes[i] = node;
	merge->n++;
	return 0;
}

/* Where LAST belongs when the root has gone. */
static void sift_down(struct event_order *merge, struct event *last)
{
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= merge->n)
			break;
		if (child + 1 < merge->n && before(merge->nodes[child + 1], merge->nodes[child]))
			child++;
		if (!before(merge->nodes[child], last))
			break;
		merge->nodes[i] = merge->nodes[child];
		i = child;
	}
	merge->nodes[i] = last;
}

struct event *event_order_pop(struct event_order *merge, uint64_t last_ns)
{
	struct event *first;

	if (merge->n == 0 || merge->nodes[0]->time_ns > last_ns)
		return NULL;
	first = merge->nodes[0];
	merge->n--;
	if (merge->n > 0)
		sift_down(merge, merge->nodes[merge->n]);
	return first;
}

void event_order_release(struct event_order *merge)
{
	for (size_t i = 0; i < merge->n; i++)
		free(merge->nodes[i]);
	free(merge->nodes);
	*merge = (struct event_order){0};
}

void event_order_push(struct event_order *sink, struct event *node)
{
	if (!node) {
		sink->stats->lost_queue++;
		return;
	}
	if (!queue_admit(sink->queue, node)) {
		if (node->kind == EVENT_KIND_SAMPLE)
			sink->stats->lost_queue += node->sample.weight;
		free(node);
		return;
	}
	if (event_order_insert(sink, node) < 0) {
		sink->stats->lost_queue++;
		queue_forget(sink->queue, node);
	}
}
