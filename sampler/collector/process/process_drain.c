/* process_drain.c - from the slots of one process into the stream */
#include "base/units.h"
#include "sampler/collector/process/process.h"
#include "sampler/collector/process/process_event.h"
#include "sampler/collector/process/wall.h"
#include "sampler/collector/process/weights.h"
#include "sampler/collector/ring/ring_view.h"

#include "base/io.h"
#include "sampler/collector/perf/perf_ring.h"
#include "sampler/collector/process/timerless.h"
#include "sampler/procfs/proc.h"
#include "sampler/unwind/unwind.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	HANDLER_TYPICAL_US = 20, /* before anything is known of a handler of the process */
	HANDLER_PLAIN_US = 40,   /* always believed up to this */
	SWEEP_MS = 500,          /* between two reads of all slots, which also find ended threads */
	SWEEP_SOON_MS = 100,     /* after a sweep that found some */
	SWEEP_PART = 2000,       /* the part of their CPU that sweeps may take */
	SWEEP_SOON_PART = 250,   /* after a sweep that found some */
	SWEEP_MOST_MS = 4000,    /* between two sweeps at most */
};

/* How far a counter of the target's has moved; one that falls has not. */
static uint64_t advance(uint64_t *seen, const _Atomic uint64_t *counter)
{
	uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);
	uint64_t moved = now > *seen ? now - *seen : 0;

	*seen += moved;
	return moved;
}

static void add(uint64_t *total, uint64_t amount)
{
	*total = amount > UINT64_MAX - *total ? UINT64_MAX : *total + amount;
}

/* One slot while it is being drained. */
struct slot_drain {
	struct process *process;
	struct event_order *sink;
	struct slot_view *view;
	uint64_t now_ns;    /* read after the head: no record in it is younger */
	uint64_t n_counted; /* samples of a counted event, and what they stand for together */
	uint64_t weight;
};

/* A target's time in ours; false when it cannot be. */
static bool our_time(const struct slot_drain *drain, uint64_t time_ns, uint64_t *ret_ns)
{
	const struct process *process = drain->process;
	uint64_t ours = time_ns - (uint64_t)process->clock_offset_ns;

	if (ours < process->started_ns || ours > drain->now_ns)
		return false;
	*ret_ns = ours;
	return true;
}

static bool is_foreign(const struct process *process)
{
	return process->namespace_pid != process->pid;
}

/* Return: the tid as we number it; 0 when it is of another pid namespace and not known here. */
static uint32_t known_tid(const struct slot_drain *drain, uint32_t tid)
{
	struct process *process = drain->process;

	if (!is_foreign(process))
		return tid;
	if (tid == (uint32_t)process->namespace_pid)
		return (uint32_t)process->pid;
	if (tid == drain->view->tid && drain->view->ids.outer)
		return drain->view->ids.outer;
	return process->alive ? namespace_tids_find(&process->namespace_tids, tid) : 0;
}

/* A thread that has ended before we could ask keeps its own number. */
static uint32_t our_tid(const struct slot_drain *drain, uint32_t tid)
{
	uint32_t known = known_tid(drain, tid);

	return known ? known : tid;
}

static uint64_t whole_periods(const struct event_sample *sample, uint64_t period_ns)
{
	uint64_t n = (sample->weight * sample->period_ns + period_ns / 2) / period_ns;

	return n > 0 ? n : 1;
}

/* In wall mode a sample of CPU is a stack for the thread's account. */
static void give_sample(const struct slot_drain *drain, const struct record_sample *record,
			struct event *node)
{
	struct process *process = drain->process;
	bool foreign = known_tid(drain, record->tid) == 0;

	if (process->wall && node) {
		node->sample.weight = whole_periods(&node->sample, process->period_ns);
		node->sample.period_ns = 0;
	}
	if (!process->wall || !node)
		event_order_push(drain->sink, node);
	else if (foreign)
		free(node); /* which of the threads that we see it is cannot be told */
	else
		wall_add_sample(process->wall, node);
}

/* Of several samples, each its part; one that was not expected yet is settled with the next. */
static void share_count(struct slot_drain *drain, struct event_sample *sample)
{
	sample->event = EVENT_COUNT;
	sample->period_ns = 0;
	if (drain->n_counted == 0) {
		sample->weight = 1;
		drain->view->perf.counted++;
		return;
	}
	sample->weight = drain->weight / drain->n_counted;
	drain->weight -= sample->weight;
	drain->n_counted--;
}

/* In wall mode another sample uses the stack, when the kernel may be doing something else. */
static struct event *add_kernel(const struct slot_drain *drain, uint16_t flags, struct event *node)
{
	struct perf_ring *ring = drain->view->perf.ring;
	const uint64_t *pcs;
	uint32_t n;

	if (!ring || !node || drain->process->wall || !(flags & SAMPLE_EVENT))
		return node;
	n = perf_ring_frames(ring, node->time_ns, &pcs);
	return event_with_kernel(node, pcs, n);
}

static void push_sample(struct slot_drain *drain, const struct record_sample *record,
			uint64_t time_ns)
{
	struct process *process = drain->process;
	struct event *node =
		add_kernel(drain, record->head.flags, event_new_sample(process, record, time_ns));

	if (node && process->perf.counted)
		share_count(drain, &node->sample);
	if (node) {
		node->sample.tid = our_tid(drain, record->tid);
		if (!process->wall) /* else when it is given */
			process_fill_metrics(process, &node->sample, drain->now_ns);
		node->sample.truncated = record->stop == UNWIND_DEPTH;
	}
	if (drain->view->weight == 0)
		timerless_first_sample(process, drain->view->ids.outer, drain->sink->stats);
	drain->view->weight += record->weight;
	drain->sink->stats->event_signals += (record->head.flags & SAMPLE_EVENT) != 0;
	if (record->head.flags & SAMPLE_IN_KERNEL)
		add(&drain->sink->stats->kernel_periods, record->weight);
	if (record->weight > 1 && !process->perf.counted)
		add(&drain->sink->stats->merged, record->weight - 1);
	process->given_ns += record->weight * record->period_ns;
	process->n_taken++;
	if (time_ns > process->unsupported_ns)
		process->unsupported_ns = 0; /* its exec failed */
	mappings_check(&process->mappings, record->pcs, record->n_pcs, drain->now_ns);
	give_sample(drain, record, node);
}

static void push_event(const struct slot_drain *drain, const struct record_event *record,
		       uint64_t time_ns)
{
	struct process *process = drain->process;
	struct event *node = hook_event_new(process, record, time_ns);

	if (node) {
		node->sample.tid = our_tid(drain, record->tid);
		node->sample.waker_tid = our_tid(drain, node->sample.waker_tid);
		process_fill_metrics(process, &node->sample, drain->now_ns);
		node->sample.truncated = record->stop == UNWIND_DEPTH;
	}
	mappings_check(&process->mappings, record->pcs, record->n_pcs, drain->now_ns);
	event_order_push(drain->sink, node);
}

/*
 * The first name that a thread has is that of samples before it, too: a handler that the next
 * signal interrupts before it has its slot writes its sample after that one's, with an earlier
 * time.
 */
static void push_thread(const struct slot_drain *drain, const struct record_thread *record,
			uint64_t time_ns)
{
	struct event *node = event_new(EVENT_KIND_THREAD, drain->process, time_ns, 0);
	struct thread *thread;

	if (!node)
		return;
	node->thread.tid = our_tid(drain, record->tid);
	memcpy(node->thread.comm, record->comm, sizeof(node->thread.comm));
	thread = process_thread(drain->process, node->thread.tid);
	if (thread && !thread->comm[0])
		memcpy(thread->comm, record->comm, sizeof(thread->comm));
	event_order_push(drain->sink, node);
}

/* Every record but padding starts with its head and a time. */
static void take_record(struct slot_drain *drain, union record_copy *record)
{
	struct process *process = drain->process;
	uint64_t time_ns;

	if (!our_time(drain, record->unmap.time_ns, &time_ns)) {
		drain->sink->stats->lost_corrupt++;
		return;
	}
	if (time_ns > process->latest_ns)
		process->latest_ns = time_ns;
	switch (record->head.type) {
	case RECORD_SAMPLE:
		weights_add_residual(process, &record->sample);
		if (process_believe(process, &record->sample, drain->sink->stats))
			push_sample(drain, &record->sample, time_ns);
		break;
	case RECORD_THREAD:
		push_thread(drain, &record->thread, time_ns);
		break;
	case RECORD_MODULE:
		mappings_module(&process->mappings, &record->module, time_ns);
		break;
	case RECORD_UNMAP:
		mappings_unmap(&process->mappings, time_ns);
		break;
	case RECORD_EVENT:
		push_event(drain, &record->event, time_ns);
		break;
	default:
		break;
	}
}

_Static_assert(
	offsetof(struct record_sample, time_ns) == offsetof(struct record_unmap, time_ns) &&
		offsetof(struct record_thread, time_ns) == offsetof(struct record_unmap, time_ns) &&
		offsetof(struct record_module, time_ns) == offsetof(struct record_unmap, time_ns) &&
		offsetof(struct record_event, time_ns) == offsetof(struct record_unmap, time_ns),
	"take_record() reads the time of any record");

static uint64_t typical_cost(const struct process *process)
{
	return process->handler_ns ? process->handler_ns : HANDLER_TYPICAL_US * 1000;
}

/* Of a slot's first samples: what later ones cost. */
static uint64_t first_cost(const struct process *process, uint64_t ns, uint64_t n)
{
	uint64_t typical_ns = (n ? n : 1) * typical_cost(process);

	return ns < typical_ns ? ns : typical_ns;
}

/*
 * The handler reads a clock on the wall: where it had to wait for a processor or a lock, it used
 * far less than that says.  What is more than a walk can take counts as what others took.
 */
static uint64_t handler_cost(struct process *process, uint64_t ns, uint64_t n)
{
	uint64_t typical_ns = typical_cost(process);
	uint64_t most_ns = 4 * typical_ns;
	uint64_t mean_ns = ns / (n ? n : 1);

	if (most_ns < HANDLER_PLAIN_US * 1000)
		most_ns = HANDLER_PLAIN_US * 1000;
	if (mean_ns > most_ns) {
		process->handler_ns = typical_ns + typical_ns / 64;
		return (n ? n : 1) * typical_ns;
	}
	if (n)
		process->handler_ns = typical_ns - typical_ns / 8 + mean_ns / 8;
	return ns;
}

static void count_slot(const struct slot_drain *drain, const struct ring_slot *slot)
{
	struct collector_stats *stats = drain->sink->stats;

	bool first = drain->view->n_samples == 0;
	uint64_t n = advance(&drain->view->n_samples, &slot->n_samples);
	uint64_t ns = advance(&drain->view->handler_ns, &slot->handler_ns);
	uint64_t lost = advance(&drain->view->lost_full, &slot->lost_full);
	uint64_t cost_ns;

	if (n || lost)
		drain->process->heard_ns = drain->process->charged_ns;
	add(&stats->signals, n);
	add(&stats->hooks_ns, advance(&drain->view->hooks_ns, &slot->hooks_ns));
	add(&stats->lost_full, lost);
	if (!ns)
		return;
	/* Where the first sample is among them, its ring was made ready, once. */
	cost_ns = first ? first_cost(drain->process, ns, n) : handler_cost(drain->process, ns, n);
	add(&stats->handler_ns, cost_ns);
	if (first && ns > cost_ns)
		add(&stats->first_ns, ns - cost_ns);
}

/* What the samples that wait stand for, as the kernel has counted; a ring holds no more. */
static void settle_counts(struct slot_drain *drain, uint64_t n_samples, uint64_t data_bytes)
{
	uint64_t most = data_bytes / sizeof(struct record_sample);

	if (!drain->process->perf.counted || n_samples == 0)
		return;
	if (n_samples > most)
		n_samples = most;
	drain->n_counted = n_samples;
	drain->weight = perf_thread_settle(&drain->process->perf, &drain->view->perf, n_samples);
}

static void drain_slot(struct slot_drain *drain, struct ring_slot *slot, uint32_t index)
{
	uint64_t data_bytes = ring_data_bytes(index / RING_CHUNK_SLOTS);
	uint64_t head = atomic_load_explicit(&slot->head, memory_order_acquire);
	double fill = (double)(head - drain->view->position) / (double)data_bytes;
	uint64_t n_samples = drain->view->n_samples;
	enum decode_result result;
	union record_copy record;

	count_slot(drain, slot);
	if (head == drain->view->position)
		return;
	settle_counts(drain, drain->view->n_samples - n_samples, data_bytes);
	if (fill > drain->process->fill)
		drain->process->fill = fill > 1 ? 1 : fill;
	drain->now_ns = io_now_ns();
	while ((result = decode_next(slot->data, data_bytes, head, &drain->view->position,
				     &record)) != DECODE_EMPTY) {
		if (result == DECODE_RECORD)
			take_record(drain, &record);
		else
			drain->sink->stats->lost_corrupt++;
	}
	/* Pairs with the writer's acquire: it may now overwrite what we have copied. */
	atomic_store_explicit(&slot->tail, head, memory_order_release);
}

/* The size doubles each time, because threads may come one by one. */
static int grow_views(struct process *process, uint32_t n_slots)
{
	uint32_t had = process->n_views;
	uint32_t has = had ? had : WORD_BITS;
	struct slot_view *slots;
	uint64_t *changed;

	while (has < n_slots)
		has *= 2;
	if (has > had) {
		slots = realloc(process->slots, has * sizeof(*slots));
		if (!slots)
			return -ENOMEM;
		process->slots = slots;
		changed = realloc(process->changed, has / WORD_BITS * sizeof(*changed));
		if (!changed)
			return -ENOMEM;
		process->changed = changed;
		memset(slots + had, 0, (has - had) * sizeof(*slots));
		memset(changed + had / WORD_BITS, 0, (has - had) / WORD_BITS * sizeof(*changed));
		process->n_views = has;
	}
	process->n_slots = n_slots;
	return 0;
}

static void follow_tid(struct process *process, uint32_t index)
{
	struct slot_view *view = &process->slots[index];
	uint32_t tid =
		atomic_load_explicit(&process->ring.header->tids[index], memory_order_relaxed);

	if (tid == view->tid)
		return;
	view->tid = tid;
	view->weight = 0;
	if (is_foreign(process))
		namespace_tid_begin(&view->ids, &process->namespace_tids, tid);
	else
		view->ids.outer = tid;
}

/* Signals of ours that gave no sample. */
static void count_others(struct process *process, struct collector_stats *stats)
{
	struct ring_header *header = process->ring.header;
	struct header_view *seen = &process->header;
	uint64_t noslot = advance(&seen->lost_noslot, &header->lost_noslot);
	uint64_t nested = advance(&seen->lost_nested, &header->lost_nested);
	uint64_t spurious = advance(&seen->spurious, &header->spurious);
	uint64_t others = advance(&seen->n_signals, &header->n_signals);

	if (noslot || nested || spurious || others)
		process->heard_ns = process->charged_ns;
	add(&stats->lost_noslot, noslot);
	add(&stats->lost_nested, nested);
	add(&stats->spurious, spurious);
	add(&stats->signals, others);
}

static void count_header(struct process *process, struct collector_stats *stats)
{
	struct ring_header *header = process->ring.header;
	struct header_view *seen = &process->header;
	uint32_t state = atomic_load_explicit(&header->state, memory_order_acquire);

	stats->gauges |= process->readings.gauges_found;
	count_others(process, stats);
	add(&stats->lost_events, advance(&seen->event_full, &header->event_full));
	add(&stats->lost_events, advance(&seen->event_nested, &header->event_nested));
	add(&stats->lost_events, advance(&seen->event_noslot, &header->event_noslot));
	add(&stats->live_full, advance(&seen->live_full, &header->live_full));
	add(&stats->hooks_ns, advance(&seen->arena_ns, &header->arena_ns));
	if (state == AGENT_NO_TIMER && !seen->agentless) {
		seen->agentless = true;
		stats->agentless++;
		stats->agentless_errno =
			atomic_load_explicit(&header->agent_errno, memory_order_relaxed);
	}
	if (state == AGENT_STOPPED && !seen->given_up &&
	    !atomic_load_explicit(&header->stop, memory_order_relaxed)) {
		seen->given_up = true;
		stats->given_up++;
	}
	if (state == AGENT_SECCOMP && !seen->seccomp) {
		seen->seccomp = true;
		stats->seccomp++;
	}
}

/* Which of the slots FIRST to N_SLOTS, 64 at most, have changed: bits. */
static uint64_t take_changed(struct process *process, uint32_t first, uint32_t n_slots, bool all)
{
	_Atomic uint64_t *word = &process->ring.header->changed[first / WORD_BITS];
	uint32_t n = n_slots - first;
	uint64_t there = n < WORD_BITS ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
	uint64_t told = atomic_load_explicit(word, memory_order_relaxed) & there;

	/* Acquire: pairs with slot_leave().  Bits of slots that are not drained stay. */
	if (told)
		told = atomic_fetch_and_explicit(word, ~there, memory_order_acquire) & there;
	return all ? there : told;
}

/* Of thousands of threads that is not to be all that we do. */
static void begin_sweep(struct process *process)
{
	struct slot_sweep *sweep = &process->sweep;
	uint64_t now_ns = io_now_ns();

	sweep->on = now_ns >= sweep->next_ns &&
		    (process->charged_ns >= sweep->cpu_ns || now_ns >= sweep->last_ns);
	if (!sweep->on)
		return;
	sweep->soon = false;
	sweep->next_ns = now_ns + SWEEP_MS * NS_PER_MS;
	sweep->last_ns = now_ns + SWEEP_MOST_MS * NS_PER_MS;
	sweep->spent_ns = 0;
}

static void count_sweep(struct process *process, uint64_t before_ns)
{
	struct slot_sweep *sweep = &process->sweep;

	sweep->spent_ns += io_thread_ns() - before_ns;
	sweep->cpu_ns = process->charged_ns +
			sweep->spent_ns * (sweep->soon ? SWEEP_SOON_PART : SWEEP_PART);
}

static void drain_changed(struct process *process, struct event_order *sink, uint32_t n_slots)
{
	struct slot_drain drain = {.process = process, .sink = sink};

	for (uint32_t first = 0; first < n_slots; first += WORD_BITS) {
		uint64_t changed = take_changed(process, first, n_slots, process->sweep.on);

		process->changed[first / WORD_BITS] |= changed;
		for (; changed; changed &= changed - 1) {
			uint32_t i = first + (uint32_t)__builtin_ctzll(changed);
			struct ring_slot *slot = ring_view_slot(&process->ring, i);

			if (!slot)
				return;
			drain.view = &process->slots[i];
			follow_tid(process, i);
			drain_slot(&drain, slot, i);
		}
	}
}

static void drain_slots(struct process *process, struct event_order *sink, uint32_t n_slots)
{
	uint64_t before_ns;

	begin_sweep(process);
	before_ns = process->sweep.on ? io_thread_ns() : 0;
	drain_changed(process, sink, n_slots);
	if (process->sweep.on)
		count_sweep(process, before_ns);
}

void process_drain(struct process *process, struct event_order *sink)
{
	uint32_t n_slots = ring_view_n_slots(&process->ring);

	process->fill = 0;
	/* It ran: a sample drained after its end is not to find values from before that. */
	if (process->alive && process->charged_ns != process->readings.cpu_ns) {
		process->readings.cpu_ns = process->charged_ns;
		readings_refresh(&process->readings, io_now_ns());
	}
	if (n_slots > process->n_slots && grow_views(process, n_slots) < 0)
		return;
	drain_slots(process, sink, n_slots);
	count_header(process, sink->stats);
	atomic_store_explicit(&process->ring.header->drained_ns,
			      io_now_ns() + (uint64_t)process->clock_offset_ns,
			      memory_order_release);
	atomic_store_explicit(&process->ring.header->wake, 0, memory_order_relaxed);
}

/* The thread has ended, so nothing more is committed: drain, then give the slot back. */
static void reap_slot(struct process *process, struct event_order *sink, uint32_t index)
{
	struct slot_view *view = &process->slots[index];
	struct slot_drain drain = {.process = process, .sink = sink, .view = view};
	struct ring_slot *slot = ring_view_slot(&process->ring, index);
	struct event *node = event_new(EVENT_KIND_GONE, process, io_now_ns(), 0);
	uint32_t tid = view->tid;

	if (!slot || !node) {
		free(node);
		return;
	}
	drain_slot(&drain, slot, index);
	perf_thread_close(process, index);
	node->thread.tid = our_tid(&drain, tid);
	wall_gone(process->wall, process, sink, node->thread.tid);
	drain.now_ns = io_now_ns();
	node->time_ns = drain.now_ns > node->time_ns ? drain.now_ns : node->time_ns;
	if (node->time_ns > process->latest_ns)
		process->latest_ns = node->time_ns;
	event_order_push(sink, node);
	/* Acquire-release: the next owner of the slot sees our tail. */
	if (atomic_compare_exchange_strong_explicit(&process->ring.header->tids[index], &tid,
						    RING_TID_DEAD, memory_order_acq_rel,
						    memory_order_relaxed))
		view->tid = RING_TID_DEAD;
}

static bool is_gone(struct process *process, struct slot_view *view)
{
	return is_foreign(process)
		       ? namespace_tid_gone(&view->ids, &process->namespace_tids, view->tid)
		       : proc_thread_gone(process->pid, view->tid);
}

void process_reap(struct process *process, struct event_order *sink)
{
	uint64_t before_ns;
	uint64_t reaped_ns;
	bool found = false;

	if (!process->alive || !process->sweep.on)
		return;
	before_ns = io_thread_ns();
	for (uint32_t i = 0; i < process->n_slots; i++) {
		uint32_t tid = process->slots[i].tid;

		if (tid == 0 || tid > INT32_MAX)
			continue;
		if (!is_gone(process, &process->slots[i]))
			continue;
		/* Work that is done once a thread does not lengthen the interval. */
		reaped_ns = io_thread_ns();
		reap_slot(process, sink, i);
		before_ns += io_thread_ns() - reaped_ns;
		found = true;
	}
	process->sweep.soon = found;
	count_sweep(process, before_ns);
	if (found)
		process->sweep.next_ns -= (SWEEP_MS - SWEEP_SOON_MS) * NS_PER_MS;
}
