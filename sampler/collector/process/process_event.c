/* process_event.c - events of a process, made of its checked records */
#include "sampler/collector/process/process_event.h"

#include "sampler/collector/process/process.h"

#include <stdlib.h>
#include <string.h>

struct node *node_new(enum node_kind kind, struct process *process, uint64_t time_ns, size_t extra)
{
	struct node *node = calloc(1, sizeof(*node) + extra);

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

static void take_metrics(struct node_sample *sample, const struct record_sample *record)
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

struct node *node_new_sample(struct process *process, const struct record_sample *record,
			     uint64_t time_ns)
{
	size_t pcs_bytes = record->n_pcs * sizeof(record->pcs[0]);
	struct node *node = node_new(NODE_SAMPLE, process, time_ns, pcs_bytes);

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
	return node;
}

struct node *node_with_kernel(struct node *node, const uint64_t *pcs, uint32_t n)
{
	size_t more = n * sizeof(pcs[0]);
	struct node *longer = n ? realloc(node, node->bytes + more) : NULL;
	size_t kept;

	if (!longer)
		return node;
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

struct node *node_new_mapping(struct process *process, const struct mapping *mapping)
{
	const char *path = mapping->path ? mapping->path : "";
	size_t path_bytes = strlen(path) + 1;
	struct node *node = node_new(NODE_MAPPING, process, mapping->time_ns, path_bytes);

	if (!node)
		return NULL;
	node->mapping = *mapping;
	node->mapping.process = process->number;
	node->mapping.pid = process->pid;
	node->mapping.path = (char *)node->pcs;
	memcpy(node->pcs, path, path_bytes);
	return node;
}
