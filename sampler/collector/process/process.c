/* process.c - one image of one sampled process */
#include "sampler/collector/process/process.h"
#include "sampler/collector/context/contexts.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/units.h"
#include "sampler/collector/process/external_sampler.h"
#include "sampler/collector/process/process_event.h"
#include "sampler/collector/process/timerless.h"
#include "sampler/collector/process/wall.h"
#include "sampler/collector/tables/process_tables.h"
#include "sampler/procfs/proc.h"
#include "sampler/procfs/proc_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

/* The least that a sample claims; or the period: the timer of an event in quiet mode ticks this
 * often. */
#define CLAIM_LEAST_NS NS_PER_MS

enum {
	/* What samples may claim beyond the CPU of the process: process_believe(). */
	CLAIM_PERIODS = 4,        /* for an image */
	CLAIM_THREAD_PERIODS = 2, /* for each thread */
	CLAIM_SIGMAS = 6,         /* of one period, times the root of their number */
	CLAIM_PART = 16,          /* of the CPU */
};

int process_new(struct process **ret_process, uint32_t number, pid_t pid,
		const struct collector_options *options, struct sock_table *sockets)
{
	struct process *process = calloc(1, sizeof(*process));
	int r;

	if (!process)
		return -ENOMEM;
	r = ring_view_init(&process->ring, NS_PER_S / options->hz, options->hz, options->discovery);
	if (r < 0) {
		free(process);
		return r;
	}
	hook_event_configure(process->ring.header, options);
	process->signal = options->signal ? options->signal : SIGPROF;
	process->ring.header->signal = (uint32_t)process->signal;
	process->number = number;
	process->pid = pid;
	process->namespace_pid = pid;
	namespace_tids_init(&process->namespace_tids, pid);
	process->alive = true;
	process->pidfd = proc_pidfd(pid);
	process->clock_offset_ns = proc_clock_offset(pid);
	process->started_ns = io_now_ns();
	process->latest_ns = process->started_ns;
	process->charged_ns = proc_cpu_ns(pid);
	process->base_cpu_ns = process->charged_ns;
	process->heard_ns = process->charged_ns;
	process->claim = (struct claim){.base_ns = process->charged_ns,
					.cpu_ns = process->charged_ns,
					.read_ns = process->started_ns,
					.least_ns = CLAIM_LEAST_NS};
	process->period_ns = NS_PER_S / options->hz;
	timerless_init(&process->timerless, process->base_cpu_ns);
	readings_init(&process->readings, pid, options, sockets);
	if (contexts_new(&process->contexts, pid, options->gauges, options->n_gauges) == 0)
		contexts_post(process->contexts, process->ring.header);
	*ret_process = process;
	return 0;
}

/* The target can write to the header, so it is not read back. */
void process_follow_rate(struct process *process, const struct rate *rate)
{
	struct ring_header *header = process->ring.header;

	process->live_ns = rate->period_ns;
	if (process->live_ns < process->claim.least_ns)
		process->claim.least_ns = process->live_ns;
	process->paused = rate->pauses != 0;
	atomic_store_explicit(&header->live_period_ns, process->live_ns, memory_order_relaxed);
	atomic_store_explicit(&header->paused, process->paused, memory_order_relaxed);
	/* Pairs with the acquire of the handler, which then sees these two as well. */
	atomic_store_explicit(&header->epoch, rate->epoch, memory_order_release);
}

void process_begin_rate(struct process *process, const struct rate *rate)
{
	struct ring_header *header = process->ring.header;

	process->period_ns = NS_PER_S / rate->hz;
	process->began_ns = rate->period_ns;
	process->epoch = rate->epoch;
	header->hz = rate->hz;
	header->period_ns = process->began_ns;
	process_follow_rate(process, rate);
}

bool process_has_first_rate(const struct process *process)
{
	return atomic_load_explicit(&process->ring.header->epoch, memory_order_relaxed) ==
	       process->epoch;
}

static void free_thread(struct thread *thread)
{
	if (thread)
		readings_thread_release(&thread->readings);
	free(thread);
}

static void free_value(void *context, uint64_t key, void *value)
{
	(void)context;
	(void)key;
	free_thread(value);
}

void process_free(struct process *process)
{
	if (!process)
		return;
	perf_threads_off(process);
	ring_view_release(&process->ring);
	namespace_tids_release(&process->namespace_tids);
	cleanup_fd(&process->pidfd);
	readings_release(&process->readings);
	usage_process_release(&process->usage);
	mappings_release(&process->mappings);
	map_each(&process->threads, free_value, NULL);
	map_release(&process->threads);
	timerless_release(&process->timerless);
	wall_free(process->wall);
	contexts_free(process->contexts);
	process_tables_free(process->tables);
	if (process->external)
		process->external->how->free(process->external);
	free(process->slots);
	free(process->changed);
	free(process);
}

struct thread *process_thread(struct process *process, uint32_t tid)
{
	struct thread *thread = map_get(&process->threads, tid);

	if (thread || map_count(&process->threads) >= PROCESS_MAX_THREADS)
		return thread;
	thread = calloc(1, sizeof(*thread));
	if (thread && map_put(&process->threads, tid, thread) < 0) {
		free(thread);
		return NULL;
	}
	return thread;
}

uint64_t process_thread_pointer(struct process *process, uint32_t tid)
{
	for (uint32_t i = 0; i < process->n_slots; i++) {
		struct ring_slot *slot = process->slots[i].ids.outer == tid
						 ? ring_view_slot(&process->ring, i)
						 : NULL;

		if (slot)
			return atomic_load_explicit(&slot->thread_pointer, memory_order_relaxed);
	}
	return 0;
}

void process_forget_thread(struct process *process, uint32_t tid)
{
	free_thread(map_remove(&process->threads, tid));
}

/* Pushes mapping events into a stream. */
struct mapping_stream {
	struct process *process;
	struct event_order *sink;
	bool changed;
};

static void push_mapping(void *context, const struct mapping *mapping)
{
	struct mapping_stream *to = context;

	to->changed = true;
	if (mapping->time_ns > to->process->latest_ns)
		to->process->latest_ns = mapping->time_ns;
	wall_changed(to->process->wall);
	event_order_push(to->sink, event_new_mapping(to->process, mapping));
}

void process_keep_modules(struct process *process)
{
	if (!process->contexts)
		return;
	contexts_keep_modules(process->contexts);
	contexts_post(process->contexts, process->ring.header);
}

static void follow_contexts(struct process *process, uint64_t now_ns, bool changed)
{
	if (process->contexts && process->alive && !process->unsupported_ns &&
	    contexts_follow(process->contexts, process->ring.header, now_ns, changed))
		process_tables_search_soon(process->tables);
}

bool process_update_mappings(struct process *process, struct event_order *sink, bool force)
{
	struct mapping_stream to = {.process = process, .sink = sink};
	const struct mapping_sink emit = {.emit = push_mapping, .context = &to};
	uint64_t now_ns = io_now_ns();
	struct buf text;
	char path[64];
	int r = -ESRCH;

	if (!force && !mappings_wants_read(&process->mappings, now_ns)) {
		follow_contexts(process, now_ns, false);
		return false;
	}
	buf_init(&text, MAPS_MAX_BYTES);
	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)process->pid);
	if (process->alive && !process->unsupported_ns)
		r = io_read_file(path, &text, NULL);
	(void)mappings_update(&process->mappings, r == 0 ? &text : NULL, now_ns, &emit);
	if (r == 0 && (force || to.changed))
		process_tables_search(process->tables, &text);
	if (process_tables_count(process->tables))
		atomic_store_explicit(&process->ring.header->counts, 1, memory_order_relaxed);
	buf_release(&text);
	sink->stats->lost_corrupt += process->mappings.n_refused;
	process->mappings.n_refused = 0;
	follow_contexts(process, now_ns, to.changed);
	return to.changed;
}

/* What every processor gives in NS. */
static uint64_t of_all_processors(uint64_t ns)
{
	static long n_cpus; /* the drain thread's; it opens a file to know */

	if (!n_cpus)
		n_cpus = sysconf(_SC_NPROCESSORS_CONF);
	return ns * (uint64_t)(n_cpus > 0 ? n_cpus : 1);
}

/* What can be believed of an amount of CPU: no more than every processor gave since the start. */
static uint64_t believable_cpu(const struct process *process, uint64_t cpu_ns)
{
	uint64_t most = process->base_cpu_ns + of_all_processors(io_now_ns() - process->started_ns);

	return cpu_ns < most ? cpu_ns : most;
}

static uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Return: its CPU clock, as the kernel has it; 0: it has none any more. */
static uint64_t read_clock(struct process *process)
{
	struct claim *claim = &process->claim;
	uint64_t now_ns = io_now_ns();
	uint64_t cpu_ns = proc_cpu_ns(process->pid);

	if (cpu_ns >= claim->cpu_ns && cpu_ns) {
		claim->cpu_ns = cpu_ns;
		claim->read_ns = now_ns;
	}
	return cpu_ns;
}

/* The task directory has a link for each thread, beside its own two. */
static void count_threads(struct process *process)
{
	struct stat at;
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)process->pid);
	if (stat(path, &at) == 0 && at.st_nlink > 2)
		process->claim.n_threads =
			(uint32_t)greater(process->claim.n_threads, at.st_nlink - 2);
}

/* In all, since the image began: process_believe() says of what.  SINCE_NS: what it may have used
 * since its clock was read. */
static uint64_t most_claimed(const struct process *process, uint64_t since_ns)
{
	const struct claim *claim = &process->claim;
	uint64_t used_ns = claim->cpu_ns - claim->base_ns + since_ns;
	uint64_t period_ns =
		greater(greater(process->period_ns, process->began_ns), process->live_ns);
	uint64_t ends = CLAIM_PERIODS + CLAIM_THREAD_PERIODS * (uint64_t)claim->n_threads;
	double scatter_ns = CLAIM_SIGMAS * sqrt((double)used_ns * (double)period_ns);

	return used_ns + used_ns / CLAIM_PART + ends * period_ns + (uint64_t)scatter_ns +
	       process->inherited_ns;
}

static uint64_t left_to_claim(const struct process *process, uint64_t each_ns, uint64_t since_ns)
{
	uint64_t most_ns = most_claimed(process, since_ns);

	return most_ns > process->claim.given_ns ? (most_ns - process->claim.given_ns) / each_ns
						 : 0;
}

/* Return: how much of a weight is believed; it counts as given. */
static uint32_t claim_weight(struct process *process, uint32_t weight, uint64_t period_ns)
{
	struct claim *claim = &process->claim;
	uint64_t each_ns = greater(period_ns, claim->least_ns);
	uint64_t left = left_to_claim(process, each_ns, 0);

	/* More than the last reading explains is read again, but not for every sample: only what
	 * was not read from the clock is guessed. */
	if (left < weight) {
		if (process->alive &&
		    (!claim->n_threads || io_now_ns() - claim->read_ns > NS_PER_MS)) {
			(void)read_clock(process);
			count_threads(process);
		}
		left = left_to_claim(process, each_ns,
				     of_all_processors(io_now_ns() - claim->read_ns));
	}
	if (left < weight) {
		claim->cut = true;
		weight = (uint32_t)left;
	}
	claim->given_ns += weight * each_ns;
	return weight;
}

bool process_believe(struct process *process, struct record_sample *sample,
		     struct collector_stats *stats)
{
	uint32_t weight = sample->weight;

	/* What a counted event stands for the kernel says. */
	if (!process->perf.counted)
		weight = claim_weight(process, weight, sample->period_ns);
	stats->lost_forged += sample->weight - weight;
	sample->weight = weight;
	return weight > 0;
}

uint64_t process_until_ns(const struct process *process)
{
	uint64_t said_ns = believable_cpu(
		process, atomic_load_explicit(&process->ring.header->cpu_ns, memory_order_acquire));

	return said_ns ? said_ns : process->charged_ns;
}

uint64_t process_begin(struct process *process, uint64_t before_ns)
{
	uint64_t cpu_ns = proc_cpu_ns(process->pid);

	if (cpu_ns > process->charged_ns)
		process->charged_ns = cpu_ns;
	process->base_cpu_ns = process->charged_ns;
	return process->base_cpu_ns > before_ns ? process->base_cpu_ns - before_ns : 0;
}

uint64_t process_used_ns(const struct process *process)
{
	return process->charged_ns - (process->attached ? process->base_cpu_ns : 0);
}

void process_charge(struct process *process)
{
	uint64_t final_ns =
		atomic_load_explicit(&process->ring.header->cpu_ns, memory_order_acquire);
	uint64_t cpu_ns = process->alive && !process->unsupported_ns ? read_clock(process) : 0;

	process->claim.cut = false;
	if (cpu_ns > process->charged_ns)
		process->charged_ns = cpu_ns;
	final_ns = believable_cpu(process, final_ns);
	if (final_ns > process->charged_ns)
		process->charged_ns = final_ns;
}

/* A tid of another pid namespace would be another thread's here. */
void process_fill_metrics(struct process *process, struct event_sample *sample, uint64_t now_ns)
{
	bool ours = process->namespace_pid == process->pid || sample->tid == (uint32_t)process->pid;
	struct thread *thread = ours && readings_want_thread(&process->readings, sample)
					? process_thread(process, sample->tid)
					: NULL;

	if (!process->alive)
		now_ns = process->readings.read_ns;
	hook_event_arenas(process);
	readings_fill(&process->readings, thread ? &thread->readings : NULL, sample, now_ns);
}

bool process_alive(const struct process *process)
{
	struct pollfd poll_fd = {.fd = process->pidfd, .events = POLLIN};

	if (process->pidfd < 0)
		return kill(process->pid, 0) == 0 || errno == EPERM;
	return poll(&poll_fd, 1, 0) == 0;
}

static void end_external(struct process *process, struct event_order *sink)
{
	const struct external_turn turn = {.process = process, .sink = sink, .now_ns = io_now_ns()};

	if (process->external)
		process->external->how->end(process->external, &turn);
}

void process_end(struct process *process, struct event_order *sink)
{
	struct event *node;

	process_charge(process);
	process->sweep = (struct slot_sweep){0};
	process_drain(process, sink);
	end_external(process, sink);
	perf_threads_off(process);
	wall_end(process->wall, process, sink);
	(void)process_update_mappings(process, sink, false);
	node = event_new(EVENT_KIND_EXIT, process, process->latest_ns, 0);
	if (!node)
		return;
	node->ended_by = process->ended_by;
	event_order_push(sink, node);
}
