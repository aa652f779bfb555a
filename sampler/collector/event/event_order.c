/* event_order.c - nodes of all slots and processes, put in the order of their times */
#include "sampler/collector/event/event_order.h"

#include <errno.h>
#include <stdlib.h>

static bool before(const struct node *a, const struct node *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	if (a->kind != b->kind)
		return a->kind < b->kind;
	return a->sequence < b->sequence;
}

int merge_push(struct merge *merge, struct node *node)
{
	size_t i = merge->n;

	if (merge->n == merge->size) {
		size_t size = merge->size ? merge->size * 2 : 256;
		struct node **nodes = realloc(merge->nodes, size * sizeof(struct node *));

		if (!nodes)
			return -ENOMEM;
		merge->nodes = nodes;
		merge->size = size;
	}
	node->sequence = merge->sequence++;
	for (; i > 0 && before(node, merge->nodes[(i - 1) / 2]); i = (i - 1) / 2)
		merge->nodes[i] = merge->nodes[(i - 1) / 2];
	merge->nodes[i] = node;
	merge->n++;
	return 0;
}

/* Where LAST belongs when the root has gone. */
static void sift_down(struct merge *merge, struct node *last)
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

struct node *merge_pop(struct merge *merge, uint64_t last_ns)
{
	struct node *first;

	if (merge->n == 0 || merge->nodes[0]->time_ns > last_ns)
		return NULL;
	first = merge->nodes[0];
	merge->n--;
	if (merge->n > 0)
		sift_down(merge, merge->nodes[merge->n]);
	return first;
}

void merge_release(struct merge *merge)
{
	for (size_t i = 0; i < merge->n; i++)
		free(merge->nodes[i]);
	free(merge->nodes);
	*merge = (struct merge){0};
}

void event_sink_push(struct merge *sink, struct node *node)
{
	if (!node) {
		sink->stats->lost_queue++;
		return;
	}
	if (!queue_admit(sink->queue, node)) {
		if (node->kind == NODE_SAMPLE)
			sink->stats->lost_queue += node->sample.weight;
		free(node);
		return;
	}
	if (merge_push(sink, node) < 0) {
		sink->stats->lost_queue++;
		queue_forget(sink->queue, node);
	}
}
