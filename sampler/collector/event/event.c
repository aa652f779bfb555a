/* event.c - a wait for a lock, from its record to a sample */
#include "sampler/collector/event/event.h"

#include <inttypes.h>
#include <stdio.h>

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
