/* event.c - the queue of events to the main thread, and what a wait for a lock becomes */
#include "sampler/collector/event/event.h"

#include "base/io.h"
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char *const words[] = {
	[LOCK_MUTEX] = "mutex",
	[LOCK_RWLOCK] = "rwlock",
	[LOCK_COND] = "cond",
	[LOCK_SEM] = "sem",
};

bool lock_event_holds(const struct record_event *event)
{
	uint32_t kind = RECORD_LOCK_KIND(event->extra);

	return kind < sizeof(words) / sizeof(words[0]) && words[kind] &&
	       RECORD_LOCK_N_WAKER(event->extra) < event->n_pcs &&
	       RECORD_LOCK_WAKER_TID(event->extra) <= INT32_MAX;
}

void lock_event_fill(struct event_sample *sample, const struct record_event *event)
{
	uint64_t us = (event->amount + 500) / 1000;

	sample->event = EVENT_LOCK;
	sample->weight = us ? us : 1;
	sample->state = STATE_SLEEPING;
	sample->wait = words[RECORD_LOCK_KIND(event->extra)];
	(void)snprintf(sample->object, sizeof(sample->object), "0x%" PRIx64, event->object);
	sample->n_waker = (uint16_t)RECORD_LOCK_N_WAKER(event->extra);
	sample->n_pcs = (uint16_t)(event->n_pcs - sample->n_waker);
	sample->waker_tid = RECORD_LOCK_WAKER_TID(event->extra);
}

int queue_init(struct queue *queue, size_t limit)
{
	pthread_condattr_t attr;
	int r;

	*queue = (struct queue){.limit = limit};
	queue->last = &queue->first;
	queue->put_last = &queue->put;
	r = pthread_condattr_init(&attr);
	if (r)
		return -r;
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	r = pthread_cond_init(&queue->filled, &attr);
	(void)pthread_condattr_destroy(&attr);
	if (r)
		return -r;
	r = pthread_mutex_init(&queue->lock, NULL);
	if (r)
		(void)pthread_cond_destroy(&queue->filled);
	return -r;
}

void queue_release(struct queue *queue)
{
	queue_hand_over(queue);
	while (queue->first) {
		struct event *node = queue->first;

		queue->first = node->next;
		free(node);
	}
	(void)pthread_cond_destroy(&queue->filled);
	(void)pthread_mutex_destroy(&queue->lock);
}

bool queue_admit(struct queue *queue, const struct event *node)
{
	size_t limit = queue->limit;

	if (node->kind == EVENT_KIND_MAPPING || node->kind == EVENT_KIND_THREAD)
		limit *= 2;
	if (node->kind == EVENT_KIND_EXIT || node->kind == EVENT_KIND_END ||
	    node->kind == EVENT_KIND_GONE || node->kind == EVENT_KIND_RATE)
		limit = SIZE_MAX;
	/* Relaxed: a count that the other side only lowers; the lock orders the nodes. */
	if (atomic_load_explicit(&queue->bytes, memory_order_relaxed) > limit - node->bytes)
		return false;
	atomic_fetch_add_explicit(&queue->bytes, node->bytes, memory_order_relaxed);
	return true;
}

void queue_forget(struct queue *queue, struct event *node)
{
	if (!node)
		return;
	atomic_fetch_sub_explicit(&queue->bytes, node->bytes, memory_order_relaxed);
	free(node);
}

void queue_put(struct queue *queue, struct event *node)
{
	node->next = NULL;
	*queue->put_last = node;
	queue->put_last = &node->next;
	queue->n_samples++;
	queue->pressing = queue->pressing || node->kind != EVENT_KIND_SAMPLE;
}

void queue_hand_over(struct queue *queue)
{
	if (!queue->put)
		return;
	(void)pthread_mutex_lock(&queue->lock);
	*queue->last = queue->put;
	queue->last = queue->put_last;
	(void)pthread_mutex_unlock(&queue->lock);
	/* After the unlock: otherwise the main thread wakes up to wait for the lock. */
	(void)pthread_cond_signal(&queue->filled);
	queue->put = NULL;
	queue->put_last = &queue->put;
	queue->n_samples = 0;
	queue->pressing = false;
}

void queue_offer(struct queue *queue, uint64_t now_ns)
{
	bool few = !queue->pressing && queue->n_samples < QUEUE_GATHER;

	if (!queue->put || (few && now_ns - queue->offered_ns < queue->gather_ns))
		return;
	queue->offered_ns = now_ns;
	queue_hand_over(queue);
}

void queue_nudge(struct queue *queue)
{
	(void)pthread_mutex_lock(&queue->lock);
	queue->nudged = true;
	(void)pthread_mutex_unlock(&queue->lock);
	(void)pthread_cond_signal(&queue->filled);
}

static struct timespec deadline_after(uint64_t timeout_ns)
{
	uint64_t now = io_now_ns();
	uint64_t at = timeout_ns > INT64_MAX - now ? INT64_MAX : now + timeout_ns;

	return (struct timespec){.tv_sec = (time_t)(at / NS_PER_S),
				 .tv_nsec = (long)(at % NS_PER_S)};
}

struct event *queue_take(struct queue *queue, uint64_t timeout_ns)
{
	struct timespec deadline = deadline_after(timeout_ns);
	struct event *node;
	int r = timeout_ns ? 0 : ETIMEDOUT;

	(void)pthread_mutex_lock(&queue->lock);
	while (!queue->first && !queue->nudged && r == 0)
		r = pthread_cond_timedwait(&queue->filled, &queue->lock, &deadline);
	queue->nudged = false;
	node = queue->first;
	if (node) {
		queue->first = node->next;
		if (!queue->first)
			queue->last = &queue->first;
	}
	(void)pthread_mutex_unlock(&queue->lock);
	return node;
}

uint64_t queue_oldest_ns(struct queue *queue)
{
	const struct event *node;
	uint64_t ns;

	(void)pthread_mutex_lock(&queue->lock);
	node = queue->first;
	ns = node && node->kind == EVENT_KIND_SAMPLE ? node->time_ns : 0;
	(void)pthread_mutex_unlock(&queue->lock);
	return ns;
}
