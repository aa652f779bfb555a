/* process_event.c - events of a process, made of its checked records */
#include "sampler/collector/process/process_event.h"

#include "sampler/collector/context/contexts.h"
#include "sampler/collector/context/labels.h"
#include "sampler/collector/event/event.h"
#include "sampler/collector/process/process.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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
static void set_memory(struct event_sample *sample, const struct record_event *record)
{
	bool freed = record->kind == HOOK_FREE;
	int64_t bytes = (int64_t)record->amount;

	sample->event = EVENT_ALLOC;
	sample->op = freed ? "free" : "alloc";
	sample->weight = freed ? 0 : record->amount;
	sample->metrics[METRIC_HEAP_LIVE_BYTES].value = freed ? -bytes : bytes;
	(void)snprintf(sample->object, sizeof(sample->object), "%" PRIx64, record->object);
}

struct event *event_with_labels(struct event *node, const struct labels *labels)
{
	struct event *longer = labels->n ? realloc(node, node->bytes + labels->bytes) : NULL;

	if (!longer)
		return node;
	longer->bytes += labels->bytes;
	longer->sample.n_labels = (uint16_t)labels->n;
	longer->sample.label_bytes = (uint16_t)labels->bytes;
	longer->sample.profiled = labels_has(labels, "function");
	memcpy(event_labels(longer), labels->text, labels->bytes);
	return longer;
}

/* With the labels of what follows the pcs of a checked record. */
static struct event *with_context(struct event *node, const struct record *head,
				  const uint64_t *pcs_end)
{
	const struct record_context *context = record_context_of(head, pcs_end);
	struct labels labels;

	if (!context)
		return node;
	contexts_labels(node->process->contexts, context, &labels);
	return event_with_labels(node, &labels);
}

struct event *hook_event_new(struct process *process, const struct record_event *record,
			     uint64_t time_ns)
{
	size_t pcs_bytes = record->n_pcs * sizeof(record->pcs[0]);
	struct event *node = event_new(EVENT_KIND_SAMPLE, process, time_ns, pcs_bytes);

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
	return with_context(node, &record->head, record->pcs + record->n_pcs);
}

static void grow(int64_t *total, int64_t by)
{
	*total = by > INT64_MAX - *total ? INT64_MAX : *total + by;
}

void hook_event_settle(struct event_sample *sample, struct thread *thread)
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

bool hook_event_count(const struct event_sample *sample, struct collector_stats *stats)
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

struct event *event_new(enum event_kind kind, struct process *process, uint64_t time_ns,
			size_t extra)
{
	struct event *node = calloc(1, sizeof(*node) + extra);

	if (!node)
		return NULL;
	node->kind = kind;
	node->time_ns = time_ns;
	node->bytes = sizeof(*node) + extra;
	node->process = process;
	if (process) {
		node->process_number = process->number;
		node->pid = process->pid;
	}
	return node;
}

static void take_metrics(struct event_sample *sample, const struct record_sample *record)
{
	const uint64_t values[] = {record->cpu_ns, record->minflt, record->majflt,
				   record->vcsw,   record->ivcsw,  record->stack_bytes};

	sample->has_metrics = (record->head.flags & SAMPLE_NO_METRICS) == 0;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		/* Without metrics the thread knew its stack only; 0 is not known. */
		if (sample->has_metrics || i == METRIC_STACK_BYTES)
			sample->metrics[i].value =
				values[i] > INT64_MAX ? INT64_MAX : (int64_t)values[i];
	}
}

struct event *event_new_sample(struct process *process, const struct record_sample *record,
			       uint64_t time_ns)
{
	size_t pcs_bytes = record->n_pcs * sizeof(record->pcs[0]);
	struct event *node = event_new(EVENT_KIND_SAMPLE, process, time_ns, pcs_bytes);

	if (!node)
		return NULL;
	node->sample.tid = record->tid;
	node->sample.cpu = record->cpu;
	node->sample.weight = record->weight;
	node->sample.period_ns = record->period_ns;
	node->sample.n_pcs = record->n_pcs;
	node->sample.stop = record->stop;
	take_metrics(&node->sample, record);
	memcpy(node->pcs, record->pcs, pcs_bytes);
	return with_context(node, &record->head, record->pcs + record->n_pcs);
}

struct event *event_with_kernel(struct event *node, const uint64_t *pcs, uint32_t n)
{
	size_t more = n * sizeof(pcs[0]);
	struct event *longer = n ? realloc(node, node->bytes + more) : NULL;
	size_t kept;

	if (!longer)
		return node;
	memmove((char *)longer + longer->bytes + more - longer->sample.label_bytes,
		event_labels(longer), longer->sample.label_bytes);
	kept = longer->sample.n_pcs;
	if (kept + n > RECORD_MAX_PCS) {
		kept = RECORD_MAX_PCS - n;
		longer->sample.truncated = true;
	}
	memmove(longer->pcs + n, longer->pcs, kept * sizeof(pcs[0]));
	memcpy(longer->pcs, pcs, more);
	longer->bytes += more;
	longer->sample.n_pcs = (uint16_t)(kept + n);
	longer->sample.n_kernel = (uint16_t)n;
	return longer;
}

struct event *event_new_mapping(struct process *process, const struct mapping *mapping)
{
	const char *path = mapping->path ? mapping->path : "";
	size_t path_bytes = strlen(path) + 1;
	struct event *node = event_new(EVENT_KIND_MAPPING, process, mapping->time_ns, path_bytes);

	if (!node)
		return NULL;
	node->mapping = *mapping;
	node->mapping.process = process->number;
	node->mapping.pid = process->pid;
	node->mapping.path = (char *)node->pcs;
	memcpy(node->pcs, path, path_bytes);
	return node;
}
