/* hook_event.c - what the hooks object saw, on its way to becoming a sample */
#include "sampler/collector/process/hook_event.h"

#include "sampler/collector/event/lock_event.h"
#include "sampler/collector/process/process.h"
#include "sampler/collector/process/process_event.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void hook_event_configure(struct ring_header *header, const struct collector_options *options)
{
	uint32_t events = options->events ? options->events : (uint32_t)COLLECT_CPU;

	header->alloc_bytes = options->alloc_bytes ? options->alloc_bytes : COLLECT_ALLOC_BYTES;
	header->lock_ns = options->lock_ns ? options->lock_ns : COLLECT_LOCK_NS;
	header->hooks = 0;
	if (events & COLLECT_ALLOC)
		header->hooks |= RING_HOOK_ALLOC;
	if (events & COLLECT_ALLOC && options->metrics & METRICS_OF_ARENAS)
		header->hooks |= RING_HOOK_ARENAS;
	if (events & COLLECT_LOCK)
		header->hooks |= RING_HOOK_LOCK;
	if (!(events & (COLLECT_CPU | COLLECT_WALL | COLLECT_COUNT)))
		header->hooks |= RING_NO_TIMERS;
}

void hook_event_arenas(struct process *process)
{
	const struct ring_header *header = process->ring.header;
	/* The program's word: any number. */
	int64_t *values = process->readings.values;

	values[METRIC_ARENA_BYTES] =
		(int64_t)atomic_load_explicit(&header->arena_bytes, memory_order_relaxed);
	values[METRIC_ARENA_FREE_BYTES] =
		(int64_t)atomic_load_explicit(&header->arena_free_bytes, memory_order_relaxed);
}

/* The address tells which release belongs to which allocation. */
static void set_memory(struct node_sample *sample, const struct record_event *record)
{
	bool freed = record->kind == HOOK_FREE;
	int64_t bytes = (int64_t)record->amount;

	sample->event = EVENT_ALLOC;
	sample->op = freed ? "free" : "alloc";
	sample->weight = freed ? 0 : record->amount;
	sample->metrics[METRIC_HEAP_LIVE_BYTES].value = freed ? -bytes : bytes;
	(void)snprintf(sample->object, sizeof(sample->object), "%" PRIx64, record->object);
}

struct node *hook_event_node(struct process *process, const struct record_event *record,
			     uint64_t time_ns)
{
	size_t pcs_bytes = record->n_pcs * sizeof(record->pcs[0]);
	struct node *node = node_new(NODE_SAMPLE, process, time_ns, pcs_bytes);

	if (!node)
		return NULL;
	node->sample.tid = record->tid;
	node->sample.cpu = record->cpu;
	node->sample.n_pcs = record->n_pcs;
	node->sample.stop = record->stop;
	memcpy(node->pcs, record->pcs, pcs_bytes);
	if (record->kind == HOOK_LOCK)
		lock_event_fill(&node->sample, record);
	else
		set_memory(&node->sample, record);
	return node;
}

static void grow(int64_t *total, int64_t by)
{
	*total = by > INT64_MAX - *total ? INT64_MAX : *total + by;
}

void hook_event_settle(struct node_sample *sample, struct thread *thread)
{
	int64_t change = sample->metrics[METRIC_HEAP_LIVE_BYTES].value;

	if (sample->event != EVENT_ALLOC)
		return;
	grow(change < 0 ? &thread->free_bytes : &thread->alloc_bytes,
	     change < 0 ? -change : change);
	sample->metrics[METRIC_ALLOC_BYTES].value = thread->alloc_bytes;
	sample->metrics[METRIC_FREE_BYTES].value = thread->free_bytes;
	sample->metrics[METRIC_HEAP_LIVE_BYTES].value = thread->alloc_bytes - thread->free_bytes;
}

bool hook_event_count(const struct node_sample *sample, struct collector_stats *stats)
{
	int64_t change = sample->metrics[METRIC_HEAP_LIVE_BYTES].value;
	size_t i;

	if (sample->event != EVENT_ALLOC && sample->event != EVENT_LOCK)
		return false;
	i = sample->event == EVENT_LOCK ? HOOK_STATS_WAITED
	    : change < 0                ? HOOK_STATS_FREED
					: HOOK_STATS_TAKEN;
	stats->hook_samples[i]++;
	stats->hook_weight[i] += i == HOOK_STATS_FREED ? (uint64_t)-change : sample->weight;
	return true;
}
