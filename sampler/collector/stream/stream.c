/* stream.c - from the rings through the merge to the queue, deltas and names on the way */
#include "sampler/collector/stream/stream.h"

#include "base/units.h"
#include "sampler/collector/process/engines.h"
#include "sampler/collector/process/process.h"
#include "sampler/collector/process/process_event.h"
#include "sampler/collector/process/weights.h"
#include "sampler/collector/stream/filter.h"

#include <stdlib.h>
#include <string.h>

enum { N_STOPS = sizeof(((struct collector_stats *)NULL)->stops) / sizeof(uint64_t) };
enum { N_STATES = sizeof(((struct collector_stats *)NULL)->states) / sizeof(uint64_t) };

/* What the thread could not read, and the collector does not know, is what it was. */
static void set_deltas(struct event_sample *sample, struct thread_series *series)
{
	for (size_t i = 0; i < SAMPLE_MAX_METRICS; i++) {
		struct metric_value *metric = &sample->metrics[i];

		if (!sample->has_metrics && i < METRIC_RECORD && metric->value == 0)
			metric->value = series->values[i];
		metric->delta =
			series->sampled ? metric_delta(metric->value, series->values[i]) : 0;
		series->values[i] = metric->value;
	}
}

static void count_sample(struct stream *stream, const struct event_sample *sample)
{
	struct collector_stats *stats = stream->order.stats;

	if (hook_event_count(sample, stats))
		return;
	stats->samples++;
	stats->weight += sample->weight;
	stats->squares += (double)sample->weight * (double)sample->weight;
	stats->overruns += sample->event == EVENT_CPU ? sample->weight - 1 : 0;
	if ((sample->event == EVENT_CPU || sample->event == EVENT_WALL) &&
	    (size_t)sample->state < N_STATES)
		stats->states[sample->state] += sample->weight;
	if (sample->event <= EVENT_WALL) {
		uint64_t ns = sample->weight * stream->base_ns;

		stats->stood_ns += ns;
		stats->running_ns += sample->state == STATE_RUNNING ? ns : 0;
	}
	if (sample->stop < N_STOPS)
		stats->stops[sample->stop]++;
}

static void leave_out(struct stream *stream, struct event *node)
{
	struct filtered *filtered =
		&stream->order.stats->filtered[sample_series(node->sample.event)];

	filtered->samples++;
	filtered->weight += node->sample.weight;
	queue_forget(stream->order.queue, node);
}

/* Our own objects in the program: what happens there the program has not done. */
static bool is_own(const struct event *node)
{
	static const char *const names[] = {"libwick-agent.so", "libwick-hooks.so"};
	const struct event_sample *sample = &node->sample;
	const struct range *range;
	const char *name;

	if (sample_series(sample->event) != SERIES_CLOCK || sample->n_pcs == 0)
		return false;
	range = ranges_find(&node->process->mappings.known, node->pcs[0] & ~PC_EXACT);
	name = range ? strrchr(range->path, '/') : NULL;
	return name && (strcmp(name + 1, names[0]) == 0 || strcmp(name + 1, names[1]) == 0);
}

static void leave_out_own(struct stream *stream, struct event *node)
{
	stream->order.stats->own_samples++;
	stream->order.stats->own_weight += node->sample.weight;
	queue_forget(stream->order.queue, node);
}

static void give_sample(struct stream *stream, struct event *node)
{
	struct event_sample *sample = &node->sample;
	struct thread *thread = process_thread(node->process, sample->tid);
	uint64_t taken = sample->weight; /* in periods that it was taken with */

	if (thread) {
		memcpy(sample->comm, thread->comm, sizeof(sample->comm));
		stream->order.stats->threads += !thread->counted;
		thread->counted = true;
	}
	if (!weights_convert(thread, sample, node->time_ns, stream->base_ns)) {
		stream->order.stats->folded++;
		queue_forget(stream->order.queue, node);
		return;
	}
	if (is_own(node)) {
		leave_out_own(stream, node);
		return;
	}
	count_sample(stream, sample);
	if (thread)
		hook_event_settle(sample, thread);
	if (stream->filter && !filter_keeps(stream->filter, node->process, thread, sample)) {
		leave_out(stream, node);
		return;
	}
	/* After the filter: a delta is relative to the last sample that was given. */
	if (thread) {
		struct thread_series *series = &thread->series[sample_series(sample->event)];

		set_deltas(sample, series);
		if (series->sampled)
			engines_sample(node->process, sample, taken, stream->order.stats);
		series->sampled = true;
	}
	queue_put(stream->order.queue, node);
}

static void name_thread(struct stream *stream, struct event *node)
{
	struct thread *thread = process_thread(node->process, node->thread.tid);

	if (thread)
		memcpy(thread->comm, node->thread.comm, sizeof(thread->comm));
	queue_forget(stream->order.queue, node);
}

static void give(struct stream *stream, struct event *node)
{
	struct process *process = node->process;

	switch (node->kind) {
	case EVENT_KIND_SAMPLE:
		give_sample(stream, node);
		return;
	case EVENT_KIND_THREAD:
		name_thread(stream, node);
		return;
	case EVENT_KIND_GONE:
		process_forget_thread(process, node->thread.tid);
		queue_forget(stream->order.queue, node);
		return;
	case EVENT_KIND_EXIT:
		queue_put(stream->order.queue, node);
		process_free(process);
		return;
	case EVENT_KIND_RATE:
		stream->base_ns = NS_PER_S / node->rate.hz;
		queue_put(stream->order.queue, node);
		return;
	case EVENT_KIND_MAPPING:
	case EVENT_KIND_END:
		queue_put(stream->order.queue, node);
		return;
	}
}

void stream_flush(struct stream *stream, uint64_t last_ns)
{
	struct event *node;

	while ((node = event_order_pop(&stream->order, last_ns)))
		give(stream, node);
	queue_offer(stream->order.queue, last_ns);
}
