/* flight_ring.c - the last samples of a run, in memory with a bound */
#include "tools/flight/flight.h"

#include "base/map.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { OVERHEAD = 32, ENTRY_BYTES = 128 }; /* what malloc adds; what the map takes for a key */

/* A frame, kept as long as a stack has it.  Frames of one hash are chained. */
struct held_frame {
	struct frame frame;
	struct held_frame *next;
	uint64_t hash;
	uint32_t n_held;
};

/* Behind the struct: the metrics that are kept, the frames, the labels, the object. */
struct held_sample {
	struct held_sample *next;
	size_t bytes;
	uint64_t time_ns;
	uint64_t weight;
	const char *wait;
	const char *op;
	uint32_t process;
	uint32_t cpu;
	pid_t pid;
	pid_t tid;
	pid_t waker_tid;
	enum sample_event event;
	enum sample_state state;
	uint16_t n_frames;
	uint16_t n_waker;
	uint16_t object_len;
	uint16_t n_labels;
	bool truncated;
	char comm[SAMPLE_COMM_SIZE];
	struct metric_value metrics[];
};

struct flight_ring {
	struct flight_ring_options options;
	size_t n_metrics; /* kept of each sample */
	struct map frames;
	struct held_sample *first;
	struct held_sample *last;
	struct flight_ring_stats stats;
	/* What a visitor sees. */
	struct sample seen;
	struct frame seen_frames[SAMPLE_MAX_NAMED];
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

/* Names are compared by place: the symbolizer keeps each once. */
static uint64_t hash_of(const struct frame *frame)
{
	uint64_t hash = mix(0, frame->addr);

	hash = mix(hash, (uint64_t)(uintptr_t)frame->symbol);
	hash = mix(hash, frame->offset);
	hash = mix(hash, (uint64_t)(uintptr_t)frame->module);
	hash = mix(hash, frame->module_offset);
	hash = mix(hash, (uint64_t)(uintptr_t)frame->file);
	return mix(hash, (uint64_t)frame->line << 2 | (uint64_t)frame->exact << 1 | frame->inlined);
}

static bool is_same(const struct frame *a, const struct frame *b)
{
	return a->addr == b->addr && a->symbol == b->symbol && a->offset == b->offset &&
	       a->module == b->module && a->module_offset == b->module_offset &&
	       a->file == b->file && a->line == b->line && a->exact == b->exact &&
	       a->inlined == b->inlined;
}

static struct held_frame *hold_frame(struct flight_ring *ring, const struct frame *frame)
{
	uint64_t hash = hash_of(frame);
	struct held_frame *first = map_get(&ring->frames, hash);
	struct held_frame *held = first;

	while (held && !is_same(&held->frame, frame))
		held = held->next;
	if (held) {
		held->n_held++;
		return held;
	}
	held = calloc(1, sizeof(*held));
	if (!held)
		return NULL;
	*held = (struct held_frame){.frame = *frame, .next = first, .hash = hash, .n_held = 1};
	if (map_put(&ring->frames, hash, held) < 0) {
		free(held);
		return NULL;
	}
	ring->stats.bytes += sizeof(*held) + ENTRY_BYTES;
	return held;
}

static void drop_frame(struct flight_ring *ring, struct held_frame *held)
{
	struct held_frame *first;

	if (--held->n_held > 0)
		return;
	first = map_get(&ring->frames, held->hash);
	if (first == held && !held->next) {
		(void)map_remove(&ring->frames, held->hash);
	} else if (first == held) {
		(void)map_put(&ring->frames, held->hash, held->next); /* the key is there */
	} else {
		while (first->next != held)
			first = first->next;
		first->next = held->next;
	}
	ring->stats.bytes -= sizeof(*held) + ENTRY_BYTES;
	free(held);
}

static struct held_frame **frames_of(const struct flight_ring *ring, const struct held_sample *held)
{
	return (struct held_frame **)(void *)((char *)(uintptr_t)held + sizeof(*held) +
					      ring->n_metrics * sizeof(struct metric_value));
}

static struct sample_label *labels_of(const struct flight_ring *ring,
				      const struct held_sample *held)
{
	return (struct sample_label *)(void *)(frames_of(ring, held) + held->n_frames +
					       held->n_waker);
}

/* Texts of labels are before it. */
static char *object_of(const struct held_sample *held)
{
	return (char *)(uintptr_t)held + held->bytes - OVERHEAD - held->object_len;
}

static void free_sample(struct flight_ring *ring, struct held_sample *held)
{
	struct held_frame **frames = frames_of(ring, held);

	for (size_t i = 0; i < (size_t)held->n_frames + held->n_waker; i++)
		drop_frame(ring, frames[i]);
	free(held);
}

static void pop(struct flight_ring *ring)
{
	struct held_sample *held = ring->first;

	ring->first = held->next;
	if (!ring->first)
		ring->last = NULL;
	ring->stats.bytes -= held->bytes;
	ring->stats.samples--;
	free_sample(ring, held);
}

static void note_forced(struct flight_ring *ring, uint64_t time_ns)
{
	ring->stats.n_forced++;
	if (time_ns > ring->stats.forced_ns)
		ring->stats.forced_ns = time_ns;
}

static void copy_metrics(const struct flight_ring *ring, const struct sample *sample,
			 struct held_sample *held)
{
	size_t n = 0;

	for (size_t i = 0; i < SAMPLE_MAX_METRICS; i++)
		if (ring->options.metrics >> i & 1U)
			held->metrics[n++] = i < sample->n_metrics ? sample->metrics[i]
								   : (struct metric_value){0};
}

/* The frames; false when memory ran out, and those that were held are given back. */
static bool copy_frames(struct flight_ring *ring, const struct sample *sample,
			struct held_sample *held)
{
	struct held_frame **frames = frames_of(ring, held);
	size_t n = (size_t)held->n_frames + held->n_waker;

	for (size_t i = 0; i < n; i++) {
		frames[i] = hold_frame(ring, &sample->frames[i]);
		if (!frames[i]) {
			while (i > 0)
				drop_frame(ring, frames[--i]);
			return false;
		}
	}
	return true;
}

static struct held_sample *copy(struct flight_ring *ring, const struct sample *sample)
{
	bool deep = sample->n_frames > SAMPLE_MAX_NAMED;
	size_t n_frames = deep ? SAMPLE_MAX_NAMED : sample->n_frames;
	size_t n_waker = sample->n_waker > SAMPLE_MAX_NAMED - n_frames ? 0 : sample->n_waker;
	size_t object_len = strnlen(sample->object, sizeof(sample->object));
	size_t bytes = sizeof(struct held_sample) + ring->n_metrics * sizeof(struct metric_value) +
		       (n_frames + n_waker) * sizeof(struct held_frame *) +
		       sample_labels_bytes(sample) + object_len;
	struct held_sample *held = calloc(1, bytes);

	if (!held)
		return NULL;
	*held = (struct held_sample){
		.bytes = bytes + OVERHEAD,
		.time_ns = sample->time_ns,
		.weight = sample->weight,
		.wait = sample->wait,
		.op = sample->op,
		.process = sample->process,
		.cpu = sample->cpu,
		.pid = sample->pid,
		.tid = sample->tid,
		.waker_tid = sample->waker_tid,
		.event = sample->event,
		.state = sample->state,
		.n_frames = (uint16_t)n_frames,
		.n_waker = (uint16_t)n_waker,
		.object_len = (uint16_t)object_len,
		.n_labels = (uint16_t)sample->n_labels,
		.truncated = sample->truncated || deep,
	};
	memcpy(held->comm, sample->comm, sizeof(held->comm));
	(void)sample_labels_copy(sample, labels_of(ring, held));
	memcpy(object_of(held), sample->object, object_len);
	copy_metrics(ring, sample, held);
	if (copy_frames(ring, sample, held))
		return held;
	free(held);
	return NULL;
}

void flight_ring_forget(struct flight_ring *ring, uint64_t before_ns)
{
	while (ring->first && ring->first->time_ns < before_ns)
		pop(ring);
}

void flight_ring_add(struct flight_ring *ring, const struct sample *sample)
{
	struct held_sample *held = copy(ring, sample);

	if (!held) {
		note_forced(ring, sample->time_ns);
		return;
	}
	if (ring->last)
		ring->last->next = held;
	else
		ring->first = held;
	ring->last = held;
	ring->stats.bytes += held->bytes;
	ring->stats.samples++;
	if (held->time_ns > ring->options.window_ns)
		flight_ring_forget(ring, held->time_ns - ring->options.window_ns);
	while (ring->first && ring->stats.bytes > ring->options.bytes) {
		note_forced(ring, ring->first->time_ns);
		pop(ring);
	}
}

static void show(struct flight_ring *ring, const struct held_sample *held)
{
	struct held_frame **frames = frames_of(ring, held);
	size_t n = 0;

	ring->seen = (struct sample){
		.time_ns = held->time_ns,
		.process = held->process,
		.pid = held->pid,
		.tid = held->tid,
		.cpu = held->cpu,
		.event = held->event,
		.weight = held->weight,
		.state = held->state,
		.wait = held->wait,
		.n_metrics = SAMPLE_MAX_METRICS,
		.n_frames = held->n_frames,
		.frames = ring->seen_frames,
		.op = held->op,
		.n_waker = held->n_waker,
		.waker_tid = held->waker_tid,
		.truncated = held->truncated,
		.n_labels = held->n_labels,
		.labels = labels_of(ring, held),
	};
	memcpy(ring->seen.comm, held->comm, sizeof(held->comm));
	memcpy(ring->seen.object, object_of(held), held->object_len);
	for (size_t i = 0; i < SAMPLE_MAX_METRICS; i++)
		if (ring->options.metrics >> i & 1U)
			ring->seen.metrics[i] = held->metrics[n++];
	for (size_t i = 0; i < (size_t)held->n_frames + held->n_waker; i++)
		ring->seen_frames[i] = frames[i]->frame;
}

void flight_ring_each(struct flight_ring *ring, uint64_t from_ns, uint64_t until_ns,
		      void (*visit)(void *context, const struct sample *sample), void *context)
{
	for (const struct held_sample *held = ring->first; held; held = held->next) {
		if (held->time_ns < from_ns || held->time_ns > until_ns)
			continue;
		show(ring, held);
		visit(context, &ring->seen);
	}
}

void flight_ring_stats(const struct flight_ring *ring, struct flight_ring_stats *ret_stats)
{
	*ret_stats = ring->stats;
	ret_stats->limit = ring->options.bytes;
	ret_stats->oldest_ns = ring->first ? ring->first->time_ns : 0;
	ret_stats->newest_ns = ring->last ? ring->last->time_ns : 0;
}

struct flight_ring *flight_ring_new(const struct flight_ring_options *options)
{
	struct flight_ring *ring = calloc(1, sizeof(*ring));

	if (!ring)
		return NULL;
	ring->options = *options;
	for (size_t i = 0; i < SAMPLE_MAX_METRICS; i++)
		ring->n_metrics += options->metrics >> i & 1U;
	return ring;
}

void flight_ring_free(struct flight_ring *ring)
{
	if (!ring)
		return;
	while (ring->first)
		pop(ring);
	map_release(&ring->frames);
	free(ring);
}
