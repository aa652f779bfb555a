/* perf_threads.c - engine perf: an event for every thread of a process that has a slot */
#include "sampler/collector/process/perf_threads.h"

#include "base/io.h"
#include "base/units.h"
#include "sampler/attach/attach_check.h"
#include "sampler/collector/perf/perf_ring.h"
#include "sampler/collector/process/process.h"
#include "sampler/collector/ring/ring_view.h"
#include "sampler/procfs/proc.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	PERF_RETRY_MS = 1000,      /* after an event could not be opened */
	PERF_ADAPT_MS = 100,       /* between two reads of how often an event of a thread happens */
	PERF_FIRST = 16,           /* the first period of an event that software counts */
	PERF_FIRST_FAST = 1000000, /* the first period of one that the processor counts */
};

/* One scan of all threads. */
struct perf_scan {
	struct process *process;
	const struct perf_how *how;
	struct collector_stats *stats;
	uint64_t now_ns;
	uint64_t period_ns; /* requested now */
	bool paused;
};

void perf_process_init(struct process *process, enum ring_engine engine,
		       const struct collector_options *options)
{
	struct ring_header *header = process->ring.header;

	header->event_base = (uint32_t)options->perf.base;
	header->non_cpu_event = engine == RING_ENGINE_PERF && !options->perf.name.is_cpu;
	atomic_store_explicit(&header->engine, engine, memory_order_relaxed);
	process->perf = (struct perf_process){
		.on = engine == RING_ENGINE_PERF,
		.stack_start = proc_stack_start(process->pid),
		.counted = header->non_cpu_event,
	};
}

static _Atomic uint32_t *slot_word(struct process *process, const struct perf_how *how, int fd)
{
	uint32_t at = (uint32_t)(fd - how->base) % RING_MAX_SLOTS;

	return &process->ring.header->event_slots[at];
}

/* How often it has happened since it was settled last. */
static uint64_t since(const struct perf_thread *thread)
{
	uint64_t now = 0;

	if (!thread->fd_plus_1 || perf_count(thread->fd_plus_1 - 1, &now) < 0)
		return 0;
	return now > thread->counted ? now - thread->counted : 0;
}

/* The handler ignores signals of an event that it does not find. */
static void close_one(struct process *process, uint32_t index)
{
	struct perf_thread *thread = &process->slots[index].perf;
	struct ring_slot *slot = ring_view_slot(&process->ring, index);

	if (slot)
		atomic_store_explicit(&slot->event, 0, memory_order_release);
	if (process->perf.counted)
		process->perf.left += since(thread);
	if (thread->ring) {
		perf_ring_release(thread->ring);
		free(thread->ring);
	}
	(void)close(thread->fd_plus_1 - 1);
	*thread = (struct perf_thread){0};
}

void perf_thread_close(struct process *process, uint32_t slot)
{
	if (process->slots[slot].perf.fd_plus_1)
		close_one(process, slot);
}

static void close_all(struct process *process)
{
	for (uint32_t i = 0; i < process->n_slots; i++)
		perf_thread_close(process, i);
}

/* The same thread of the same image, before the event was opened and after. */
static bool still_there(struct process *process, uint32_t tid, uint64_t start)
{
	return proc_thread_start(process->pid, tid) == start &&
	       proc_stack_start(process->pid) == process->perf.stack_start &&
	       process_alive(process);
}

static uint64_t first_period(const struct perf_scan *scan)
{
	if (scan->how->name.is_cpu)
		return scan->period_ns;
	if (scan->how->period)
		return scan->how->period;
	return scan->how->name.type == PERF_TYPE_SOFTWARE ||
			       scan->how->name.type == PERF_TYPE_TRACEPOINT
		       ? PERF_FIRST
		       : PERF_FIRST_FAST;
}

static int open_proven(const struct perf_scan *scan, uint32_t tid)
{
	struct process *process = scan->process;
	uint64_t start = proc_thread_start(process->pid, tid);
	struct perf_how how = *scan->how;
	int fd;

	if (start == 0)
		return -ESRCH;
	/* In user mode only: sampler/handler/on_event.h.  And where its exec does not come by our
	 * hook, nothing that ends it may come up in one. */
	how.in_kernel &= (process->perf.counted || how.frames) &&
			 (!process->unhooked || attach_signal_is_harmless(process->signal));
	how.signal = process->signal;
	fd = perf_open(&how, (pid_t)tid, first_period(scan));
	if (fd < 0 || still_there(process, tid, start))
		return fd;
	(void)close(fd);
	return -ESRCH;
}

static void want_frames(struct perf_thread *thread, const struct perf_scan *scan)
{
	if (!scan->how->frames)
		return;
	thread->ring = calloc(1, sizeof(*thread->ring));
	if (thread->ring && perf_ring_init(thread->ring, thread->fd_plus_1 - 1) < 0) {
		free(thread->ring);
		thread->ring = NULL;
	}
	scan->stats->perf_ringless += !thread->ring;
}

/* What is published before the event is enabled is there when its first signal comes. */
static void take_over(const struct perf_scan *scan, uint32_t index, struct ring_slot *slot, int fd)
{
	struct process *process = scan->process;
	struct perf_thread *thread = &process->slots[index].perf;

	*thread = (struct perf_thread){
		.fd_plus_1 = fd + 1,
		.tid = process->slots[index].tid,
		.paused = scan->paused,
		.period = first_period(scan),
		.seen_ns = scan->now_ns,
	};
	want_frames(thread, scan);
	atomic_store_explicit(slot_word(process, scan->how, fd), index + 1, memory_order_relaxed);
	atomic_store_explicit(&slot->event, (uint32_t)fd + 1, memory_order_release);
	if (!scan->paused)
		perf_enable(fd, true);
	scan->stats->perf_threads++;
}

static void open_one(const struct perf_scan *scan, uint32_t index)
{
	struct slot_view *view = &scan->process->slots[index];
	struct ring_slot *slot = ring_view_slot(&scan->process->ring, index);
	int fd;

	if (!slot || !view->ids.outer || scan->now_ns < view->perf.retry_ns)
		return;
	/* The process's timer is right for threads that run little: decisions/0022. */
	if (!scan->process->perf.counted &&
	    !atomic_load_explicit(&slot->armed, memory_order_relaxed))
		return;
	fd = open_proven(scan, view->ids.outer);
	if (fd >= 0) {
		take_over(scan, index, slot, fd);
		return;
	}
	if (fd != -ESRCH && !view->perf.retry_ns) {
		scan->stats->perf_refused++;
		scan->stats->perf_refused_errno = (uint64_t)-fd;
	}
	view->perf.retry_ns = scan->now_ns + PERF_RETRY_MS * NS_PER_MS;
}

/* As many events as happen in a period of time.  One that comes in bursts is followed at once where
 * it gives many samples, which is what it must not. */
static uint64_t period_by_rate(const struct perf_scan *scan, struct slot_view *view)
{
	struct perf_thread *thread = &view->perf;
	uint64_t past_ns = scan->now_ns - thread->seen_ns;
	bool busy = view->n_samples - thread->n_samples > past_ns / scan->period_ns + 1;
	uint64_t now = 0;
	double wanted;

	if ((past_ns < PERF_ADAPT_MS * NS_PER_MS && !busy) || past_ns == 0 ||
	    perf_count(thread->fd_plus_1 - 1, &now) < 0)
		return thread->period;
	wanted = (double)(now - thread->seen) * (double)scan->period_ns / (double)past_ns;
	thread->seen = now;
	thread->seen_ns = scan->now_ns;
	if (wanted > (double)thread->period * 3 / 4 && wanted < (double)thread->period * 4 / 3)
		return thread->period;
	return wanted < 1 ? 1 : (uint64_t)wanted;
}

/* A new period costs a call; of CPU, a thread that does not run has no use for it. */
static uint64_t period_of(const struct perf_scan *scan, struct slot_view *view)
{
	if (scan->how->name.is_cpu)
		return view->n_samples != view->perf.n_samples ? scan->period_ns
							       : view->perf.period;
	return scan->how->period ? scan->how->period : period_by_rate(scan, view);
}

static void follow(const struct perf_scan *scan, struct slot_view *view)
{
	struct perf_thread *thread = &view->perf;
	uint64_t period = period_of(scan, view);

	if (thread->paused != scan->paused) {
		perf_enable(thread->fd_plus_1 - 1, !scan->paused);
		thread->paused = scan->paused;
	}
	if (thread->period != period) {
		perf_set_period(thread->fd_plus_1 - 1, period);
		thread->period = period;
	}
	thread->n_samples = view->n_samples;
}

/* The handler has found another thread under the number. */
static bool is_given_up(const struct perf_scan *scan, uint32_t index)
{
	struct ring_slot *slot = ring_view_slot(&scan->process->ring, index);

	return slot && !atomic_load_explicit(&slot->event, memory_order_relaxed);
}

static void check_slot(const struct perf_scan *scan, uint32_t index)
{
	struct slot_view *view = &scan->process->slots[index];

	if (view->perf.fd_plus_1 && (view->perf.tid != view->tid || is_given_up(scan, index)))
		close_one(scan->process, index);
	if (view->tid == 0 || view->tid > INT32_MAX)
		return;
	if (view->perf.fd_plus_1)
		follow(scan, view);
	else
		open_one(scan, index);
}

/* Changed slots; all slots where changed bits do not tell what to do. */
static void scan_changed(const struct perf_scan *scan)
{
	struct process *process = scan->process;
	bool all =
		process->perf.counted || process->perf.all || process->perf.paused != scan->paused;

	for (uint32_t first = 0; first < process->n_slots; first += WORD_BITS) {
		uint64_t changed = all ? UINT64_MAX : process->changed[first / WORD_BITS];

		process->changed[first / WORD_BITS] = 0;
		for (; changed; changed &= changed - 1) {
			uint32_t i = first + (uint32_t)__builtin_ctzll(changed);

			if (i < process->n_slots)
				check_slot(scan, i);
		}
	}
	process->perf.all = false;
	process->perf.paused = scan->paused;
}

void perf_threads_scan(struct process *process, const struct perf_how *how,
		       struct collector_stats *stats)
{
	struct ring_header *header = process->ring.header;
	uint32_t state = atomic_load_explicit(&header->state, memory_order_acquire);
	const struct perf_scan scan = {
		.process = process,
		.how = how,
		.stats = stats,
		.now_ns = io_now_ns(),
		.period_ns = process->live_ns ? process->live_ns : process->period_ns,
		.paused = process->paused,
	};

	if (!process->perf.on || process->perf.off || process->perf.stack_start == 0)
		return;
	/* A thread that is about to exec has perhaps not seen that there may be events. */
	if (process->perf.all && atomic_load(&header->n_in_exec))
		return;
	if (!process->alive || process->unsupported_ns || state != AGENT_SAMPLING) {
		close_all(process);
		return;
	}
	scan_changed(&scan);
}

/* The header keeps its word: what still comes of an event is ours, and not the program's. */
void perf_process_switch(struct process *process, bool on)
{
	process->perf.on = on;
	process->perf.all = on;
	if (on)
		atomic_store(&process->ring.header->engine, RING_ENGINE_PERF);
	else
		close_all(process);
}

void perf_threads_off(struct process *process)
{
	process->perf.off = true;
	close_all(process);
}

void perf_threads_on(struct process *process)
{
	/* Another thread's exec is under way; should that fail, they are opened again. */
	if (atomic_load_explicit(&process->ring.header->n_in_exec, memory_order_acquire))
		return;
	process->perf.off = false;
	process->perf.all = true;
}

uint64_t perf_thread_settle(struct perf_process *perf, struct perf_thread *thread,
			    uint64_t n_samples)
{
	uint64_t weight = since(thread);

	thread->counted += weight > n_samples ? weight : n_samples;
	weight += perf->left;
	perf->left = 0;
	return weight > n_samples ? weight : n_samples;
}
