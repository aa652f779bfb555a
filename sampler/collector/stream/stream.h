/* stream.h - from the rings through the merge to the queue, deltas and names on the way */
#ifndef STREAM_STREAM_H
#define STREAM_STREAM_H

#include "sampler/collector/event/event.h"
#include "sampler/collector/types/options.h"
#include "sampler/collector/types/statistics.h"

struct filter;

struct stream {
	struct event_order order;
	struct filter *filter; /* NULL: everything is */
	uint64_t base_ns;      /* the period that weights are given in; 0: as they are */
};

/**
 * stream_flush - give everything up to LAST_NS, in order
 *
 * A process is freed with its EVENT_KIND_EXIT.
 *
 * Context: collector thread.
 */
void stream_flush(struct stream *stream, uint64_t last_ns);

#endif
