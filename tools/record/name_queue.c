/* name_queue.c - keeps samples in order while names are being loaded */
#include "tools/record/name_queue.h"

#include "base/io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RETRY_NS UINT64_C(10000000)
#define STOP_NS  UINT64_C(100000000)

enum name_queue_kind { ITEM_SAMPLE, ITEM_EXIT, ITEM_RATE };

/* A sample with its frames and labels, the end of a process, or another rate. */
struct name_queue_item {
	struct name_queue_item *next;
	size_t bytes;
	uint64_t due_ns;
	enum name_queue_kind kind;
	union {
		uint32_t process;
		struct collector_rate rate;
		struct sample sample;
	};
	struct frame frames[];
};

static void push(struct name_queue *queue, struct name_queue_item *item)
{
	if (queue->last)
		queue->last->next = item;
	else
		queue->first = item;
	queue->last = item;
	queue->bytes += item->bytes;
}

static void pop(struct name_queue *queue)
{
	struct name_queue_item *item = queue->first;

	queue->first = item->next;
	if (!queue->first)
		queue->last = NULL;
	queue->bytes -= item->bytes;
	queue->tried_ns = 0;
	free(item);
}

/* MORE: bytes behind the frames. */
static struct name_queue_item *new_item(size_t n_frames, size_t more)
{
	size_t bytes = sizeof(struct name_queue_item) + n_frames * sizeof(struct frame) + more;
	struct name_queue_item *item = calloc(1, bytes);

	if (item)
		item->bytes = bytes;
	return item;
}

/* Name and deliver; false when it has to wait. */
static bool try_sample(struct name_queue *queue, struct sample *sample, bool force)
{
	int r = symbolizer_resolve(queue->symbolizer, sample, force);

	if (r == -EAGAIN && !force)
		return false;
	if (r > 0) {
		queue->unnamed_frames += (uint64_t)r;
		queue->unnamed_samples++;
	}
	queue->deliver(queue->context, sample);
	return true;
}

static bool try_first(struct name_queue *queue, bool force)
{
	struct name_queue_item *item = queue->first;

	if (item->kind == ITEM_EXIT)
		symbolizer_exit(queue->symbolizer, item->process);
	else if (item->kind == ITEM_RATE)
		queue->pass(queue->context, &item->rate);
	else if (!try_sample(queue, &item->sample, force))
		return false;
	pop(queue);
	return true;
}

void name_queue_advance(struct name_queue *queue, uint64_t now_ns)
{
	while (queue->first) {
		bool force =
			queue->first->due_ns <= now_ns || queue->bytes > (size_t)NAME_QUEUE_BYTES;

		if (!force && queue->tried_ns && now_ns - queue->tried_ns < RETRY_NS)
			return;
		if (!try_first(queue, force)) {
			queue->tried_ns = now_ns;
			return;
		}
	}
}

void name_queue_add(struct name_queue *queue, struct sample *sample, uint64_t now_ns)
{
	size_t n_frames = sample->n_frames + sample->n_waker;
	struct name_queue_item *item;

	name_queue_advance(queue, now_ns);
	if (!queue->first && try_sample(queue, sample, false))
		return;
	item = new_item(n_frames, sample_labels_bytes(sample));
	if (!item) { /* no memory to wait in: everything before it goes first */
		while (queue->first)
			(void)try_first(queue, true);
		(void)try_sample(queue, sample, true);
		return;
	}
	item->sample = *sample;
	memcpy(item->frames, sample->frames, n_frames * sizeof(struct frame));
	item->sample.frames = item->frames;
	item->sample.labels = sample_labels_copy(sample, item->frames + n_frames);
	item->due_ns = now_ns + NAME_QUEUE_WAIT_NS;
	if (queue->first) /* all that wait are looked up together */
		symbolizer_request(queue->symbolizer, &item->sample);
	push(queue, item);
}

/* Return: an item to put after the samples that wait; NULL: it is done now, none waits. */
static struct name_queue_item *behind_samples(struct name_queue *queue)
{
	struct name_queue_item *item = queue->first ? new_item(0, 0) : NULL;

	while (!item && queue->first) /* no memory to wait in */
		(void)try_first(queue, true);
	return item;
}

void name_queue_pass(struct name_queue *queue, const struct collector_rate *rate)
{
	struct name_queue_item *item = behind_samples(queue);

	if (!item) {
		queue->pass(queue->context, rate);
		return;
	}
	item->kind = ITEM_RATE;
	item->rate = *rate;
	push(queue, item);
}

void name_queue_exit(struct name_queue *queue, uint32_t process)
{
	struct name_queue_item *item = behind_samples(queue);

	if (!item) {
		symbolizer_exit(queue->symbolizer, process);
		return;
	}
	item->kind = ITEM_EXIT;
	item->process = process;
	push(queue, item);
}

uint64_t name_queue_due_ns(const struct name_queue *queue, uint64_t now_ns)
{
	uint64_t names_ns;

	if (!queue->first)
		return UINT64_MAX;
	names_ns = symbolizer_due_ns(queue->symbolizer);
	if (names_ns == 0 || names_ns == UINT64_MAX)
		names_ns = now_ns + RETRY_NS;
	return names_ns < queue->first->due_ns ? names_ns : queue->first->due_ns;
}

void name_queue_drain(struct name_queue *queue)
{
	uint64_t end_ns = io_now_ns() + NAME_QUEUE_DRAIN_NS;

	for (uint64_t now = io_now_ns(); queue->first && now < end_ns; now = io_now_ns())
		if (!try_first(queue, queue->first->due_ns <= now))
			symbolizer_wait(queue->symbolizer, end_ns - now);
	symbolizer_stop(queue->symbolizer);
	if (queue->first) /* what was found until then still counts */
		symbolizer_wait(queue->symbolizer, STOP_NS);
	while (queue->first)
		(void)try_first(queue, true);
}
