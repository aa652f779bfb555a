/* drain.c - the thread that drains the rings and never waits */
#include "sampler/collector/drain/drain.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/units.h"
#include "sampler/collector/drain/attach.h"
#include "sampler/collector/drain/drain_external.h"
#include "sampler/collector/drain/due.h"
#include "sampler/collector/drain/handshake.h"
#include "sampler/collector/drain/recording_totals.h"
#include "sampler/collector/drain/state.h"
#include "sampler/collector/process/engines.h"
#include "sampler/collector/process/process_event.h"
#include "sampler/collector/process/timerless.h"
#include "sampler/collector/ring/ring_view.h"
#include "sampler/procfs/proc.h"
#include "sampler/procfs/proc_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	MAX_PROCESSES = 32768,
};

enum { MAX_EVENTS = 64 };

int drain_watch_fd(struct drain *drain, int fd, enum source source, uint32_t id)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)source << 32 | id};

	return epoll_ctl(drain->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

/*
 * The first event of a kind makes the kernel change its own code and wait until all processors know
 * (perf_swevent_enabled, perf_sched_events in kernel/events/core.c): some 30 ms, and half a second
 * beside a dozen busy processes, in which an attached program is not sampled.  So one is opened
 * before there is a program, and kept.
 */
static int open_first_event(const struct collector *collector)
{
	int fd = -1;

	if (collector->drain.engine == RING_ENGINE_PERF)
		fd = perf_open(&collector->options.perf, gettid(), NS_PER_S);
	return fd < 0 ? -1 : fd;
}

int drain_init(struct collector *collector)
{
	struct drain *drain = &collector->drain;
	int r;

	drain->child_pidfd = -1;
	drain->next_number = 1;
	drain->child_cpu.began_ns = child_cpu_now_ns();
	drain->child_cpu.left_out = collector->options.alone;
	drain->weights.random = io_now_ns();
	drain->weights.tick_ns = NS_PER_S / collector_kernel_hz();
	drain->rate = (struct rate){.hz = collector->options.hz,
				    .period_ns = NS_PER_S / collector->options.hz,
				    .pauses = collector->options.paused ? PAUSE_ASKED : 0};
	drain->engine = collector->options.engine == RING_ENGINE_PERF ? RING_ENGINE_PERF
								      : RING_ENGINE_CTIMER;
	drain->stream.base_ns = drain->rate.period_ns;
	drain->stream.order.queue = &collector->queue;
	drain->stream.order.stats = &drain->stats;
	drain->stream.filter = &drain->filter;
	due_init(collector);
	filter_init(&drain->filter, &collector->options.filter);
	usage_init(&drain->usage, collector->options.usage);
	sock_table_init(&drain->sockets);
	for (int i = 0; i < MAX_CONNECTIONS; i++)
		drain->connections[i].fd = -1;
	drain->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	drain->event_fd = open_first_event(collector);
	drain->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (drain->epoll_fd < 0)
		return -errno;
	/* A thread that waits for it must not wait for memory. */
	drain->end = event_new(EVENT_KIND_END, NULL, 0, 0);
	if (!drain->end || recording_totals_init(&drain->totals) < 0)
		return -ENOMEM;
	r = drain_watch_fd(drain, collector->directory.listen_fd, SOURCE_LISTEN, 0);
	if (r == 0)
		r = drain_watch_fd(drain, collector->wake_fd, SOURCE_WAKE, 0);
	return r;
}

void drain_release(struct collector *collector)
{
	struct drain *drain = &collector->drain;

	free(drain->end);
	if (drain->epoll_fd >= 0)
		(void)close(drain->epoll_fd);
	if (drain->child_pidfd >= 0)
		(void)close(drain->child_pidfd);
	if (drain->spare_fd >= 0)
		(void)close(drain->spare_fd);
	if (drain->event_fd >= 0)
		(void)close(drain->event_fd);
	event_order_release(&drain->stream.order);
	filter_release(&drain->filter);
	usage_release(&drain->usage);
	sock_table_release(&drain->sockets);
	recording_totals_release(&drain->totals);
	map_release(&drain->by_pid);
	map_release(&drain->by_number);
}

bool drain_records(struct collector *collector, pid_t pid)
{
	struct drain *drain = &collector->drain;
	bool found;

	(void)pthread_mutex_lock(&drain->pids_lock);
	found = map_get(&drain->by_pid, (uint64_t)pid) != NULL;
	(void)pthread_mutex_unlock(&drain->pids_lock);
	return found;
}

/* The main thread only tests whether a pid is present. */
static int list_pid(struct drain *drain, struct process *process)
{
	int r;

	(void)pthread_mutex_lock(&drain->pids_lock);
	r = map_put(&drain->by_pid, (uint64_t)process->pid, process);
	(void)pthread_mutex_unlock(&drain->pids_lock);
	return r;
}

static void unlist_pid(struct drain *drain, const struct process *process)
{
	(void)pthread_mutex_lock(&drain->pids_lock);
	if (map_get(&drain->by_pid, (uint64_t)process->pid) == process)
		(void)map_remove(&drain->by_pid, (uint64_t)process->pid);
	(void)pthread_mutex_unlock(&drain->pids_lock);
}

static void unlink_process(struct drain *drain, struct process *process)
{
	struct process **at = &drain->processes;

	while (*at && *at != process)
		at = &(*at)->next;
	if (*at)
		*at = process->next;
	unlist_pid(drain, process);
	(void)map_remove(&drain->by_number, process->number);
}

/* The last of an image.  Its CPU is added up, unless a later image of the pid carries it on. */
static void end_process(struct drain *drain, struct process *process, bool carried_on)
{
	unlink_process(drain, process);
	process_end(process, &drain->stream.order);
	recording_totals_end(&drain->totals, process);
	weights_end_image(&drain->weights, process);
	if (!carried_on)
		drain->ended_charged_ns += process_used_ns(process);
	/* The stream frees it; the descriptor may not wake us until then. */
	if (process->pidfd >= 0)
		(void)close(process->pidfd);
	process->pidfd = -1;
}

static void bury(struct collector *collector, struct process *process)
{
	struct drain *drain = &collector->drain;

	/* Its clock runs until its parent has called wait(). */
	process_charge(process);
	process->alive = false;
	process->ended_by = drain->child_ended && process->pid == collector->child
				    ? ended_by_status(drain->child_status)
				    : ended_by(process->pid, process->pidfd);
	attach_ended(collector, process);
	child_cpu_end(drain, process);
	end_process(drain, process, false);
}

static int add_process(struct drain *drain, struct process *process)
{
	int r = list_pid(drain, process);

	if (r == 0)
		r = map_put(&drain->by_number, process->number, process);
	if (r == 0 && process->pidfd >= 0)
		r = drain_watch_fd(drain, process->pidfd, SOURCE_PROCESS, process->number);
	if (r < 0) {
		unlink_process(drain, process);
		return r;
	}
	process->next = drain->processes;
	drain->processes = process;
	return 0;
}

/* Before its descriptor is sent. */
static void limit_slots(const struct drain *drain, struct process *process, uint64_t bytes)
{
	uint64_t used = 0;
	uint32_t n;

	for (const struct process *other = drain->processes; other; other = other->next)
		used += ring_quota_bytes(other->n_slots);
	n = ring_quota_slots(bytes, used);
	if (n >= process->ring.max_slots)
		return;
	process->ring.max_slots = n;
	process->ring.header->max_slots = n;
}

int drain_start(struct collector *collector, pid_t pid, pid_t namespace_pid,
		struct process **ret_process)
{
	struct drain *drain = &collector->drain;
	struct process *old = map_get(&drain->by_pid, (uint64_t)pid);
	struct process *process;
	uint64_t charged_ns = old ? old->charged_ns : 0;
	int r;

	if (drain->ending || map_count(&drain->by_number) >= MAX_PROCESSES)
		return -EBUSY;
	if (old) {
		old->alive = false;
		end_process(drain, old, true);
	}
	r = process_new(&process, drain->next_number, pid, &collector->options, &drain->sockets);
	if (r == 0) {
		process->namespace_pid = namespace_pid;
		if (namespace_pid != pid)
			namespace_tids_open(&process->namespace_tids);
		limit_slots(drain, process, collector->options.ring_bytes);
		process_begin_rate(process, &drain->rate);
		recording_totals_begin(&drain->totals, process);
		perf_process_init(process, drain->engine, &collector->options);
		weights_begin_image(&drain->weights, process);
		r = add_process(drain, process);
		if (r < 0)
			process_free(process);
	}
	if (r < 0) {
		drain->ended_charged_ns += charged_ns;
		drain->stats.agentless++;
		drain->stats.agentless_errno = (uint64_t)-r;
		return r;
	}
	if (charged_ns > process->charged_ns)
		process->charged_ns = charged_ns;
	drain->next_number++;
	drain->stats.processes++;
	(void)process_update_mappings(process, &drain->stream.order, true);
	wall_turn_begin(collector, process);
	*ret_process = process;
	return 0;
}

void drain_unsupported(struct collector *collector, pid_t pid)
{
	struct drain *drain = &collector->drain;
	struct process *process = map_get(&drain->by_pid, (uint64_t)pid);

	if (!process)
		return;
	process_charge(process);
	process_drain(process, &drain->stream.order);
	process->unsupported_ns = io_now_ns();
}

static uint64_t timeval_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_usec * 1000;
}

static void wait_child(struct collector *collector)
{
	struct drain *drain = &collector->drain;
	struct process *process;
	struct rusage usage;
	siginfo_t info = {0};
	int status;

	/* Its clock can be read until we have waited for it. */
	if (waitid(P_PID, (id_t)collector->child, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
	    info.si_pid == 0)
		return;
	process = map_get(&drain->by_pid, (uint64_t)collector->child);
	if (process)
		process_charge(process);
	if (wait4(collector->child, &status, WNOHANG, &usage) != collector->child)
		return;
	drain->child_ended = true;
	drain->child_status = status;
	drain->child_rusage_ns = timeval_ns(usage.ru_utime) + timeval_ns(usage.ru_stime);
	drain->ending = true;
}

/* Its descriptor cannot wake us, or does so all the time: it is checked in every pass. */
static void poll_child(struct drain *drain)
{
	(void)epoll_ctl(drain->epoll_fd, EPOLL_CTL_DEL, drain->child_pidfd, NULL);
	(void)close(drain->child_pidfd);
	drain->child_pidfd = -1;
}

static void take_wake(struct collector *collector)
{
	uint64_t n;

	(void)!read(collector->wake_fd, &n, sizeof(n));
	if (atomic_exchange_explicit(&collector->nudge, false, memory_order_acquire))
		queue_nudge(&collector->queue);
}

static void handle(struct collector *collector, uint64_t data)
{
	struct drain *drain = &collector->drain;
	uint32_t id = (uint32_t)data;
	struct process *process;

	switch ((enum source)(data >> 32)) {
	case SOURCE_LISTEN:
		handshake_accept(collector);
		break;
	case SOURCE_CONNECTION:
		handshake_receive(collector, id);
		break;
	case SOURCE_PROCESS:
		process = map_get(&drain->by_number, id);
		if (process)
			bury(collector, process);
		break;
	case SOURCE_CHILD:
		wait_child(collector);
		/* Its tracer has not been notified yet, and may take long. */
		if (!drain->child_ended)
			poll_child(drain);
		break;
	case SOURCE_WAKE:
		take_wake(collector);
		break;
	case SOURCE_CALLER:
		queue_nudge(&collector->queue);
		break;
	}
}

/* Everything that happens until it is time for the next pass, or to end. */
static void wait_for_pass(struct collector *collector)
{
	struct drain *drain = &collector->drain;
	struct epoll_event events[MAX_EVENTS];

	do {
		uint64_t now_ns = io_now_ns();
		uint64_t wake_ns = due_wake_ns(&drain->due);
		int ms = now_ns >= wake_ns ? 0 : (int)((wake_ns - now_ns) / NS_PER_MS + 1);
		int n = epoll_wait(drain->epoll_fd, events, MAX_EVENTS, ms);

		for (int i = 0; i < n; i++)
			handle(collector, events[i].data.u64);
		/* Every request is announced by a write to wake_fd. */
		if (n <= 0)
			continue;
		if (atomic_load_explicit(&collector->detach, memory_order_acquire))
			drain->ending = true;
		request_serve(collector);
		if (rate_follow_request(collector))
			return;
	} while (!drain->ending && !due_is(drain, io_now_ns()));
}

uint64_t drain_charged_ns(const struct drain *drain)
{
	uint64_t ns = drain->ended_charged_ns;

	for (const struct process *process = drain->processes; process; process = process->next)
		ns += process_used_ns(process);
	return ns;
}

static void publish(struct collector *collector)
{
	struct drain *drain = &collector->drain;
	struct collector_stats stats = drain->stats;
	struct published *published = &collector->published;

	stats.charged_ns = drain_charged_ns(drain);
	stats.unsupported_processes = drain->unsupported.count;
	stats.program_ns = rate_change_program_ns(collector);
	stats.counting = recording_totals_counting(collector);
	/* When everything was sampled, the kernel's own sum for CMD is the better one. */
	if (drain->child_ended && stats.unsupported_processes == 0 && stats.agentless == 0 &&
	    drain->child_rusage_ns > stats.charged_ns)
		stats.charged_ns = drain->child_rusage_ns;
	stats.paused_ns = rate_paused_ns(&drain->rate, stats.charged_ns);
	stats.charged_ns -= stats.paused_ns;
	(void)pthread_mutex_lock(&published->lock);
	published->stats = stats;
	published->usage = drain->usage.now;
	published->child_ended = drain->child_ended;
	published->child_status = drain->child_status;
	if (published->unsupported.count != drain->unsupported.count)
		published->unsupported = drain->unsupported;
	(void)pthread_mutex_unlock(&published->lock);
}

static void pass_process(struct collector *collector, struct process *process,
			 struct poll_interval_pass *pass)
{
	struct drain *drain = &collector->drain;

	process_charge(process);
	process_drain(process, &drain->stream.order);
	if (process_update_mappings(process, &drain->stream.order, false))
		pass->moved = true;
	process_reap(process, &drain->stream.order);
	if (engines_check(process, &collector->options, drain->rate.period_ns, &drain->stats))
		poll_interval_set_events(&drain->poll_interval, true,
					 NS_PER_S / collector_kernel_hz());
	if (process->perf.on)
		perf_threads_scan(process, &collector->options.perf, &drain->stats);
	if (process->external)
		return;
	if (drain->rate.pauses)
		timerless_skip(process);
	else if (!(process->ring.header->hooks & RING_NO_TIMERS))
		timerless_scan(process, drain->rate.period_ns, &drain->stats);
}

static void pass_all(struct collector *collector, struct poll_interval_pass *pass)
{
	struct drain *drain = &collector->drain;
	struct process *next;

	for (struct process *process = drain->processes; process; process = next) {
		uint64_t n_corrupt = drain->stats.lost_corrupt;

		next = process->next;
		pass_process(collector, process, pass);
		/* Forged records cause neither an earlier pass nor a pause. */
		if (!process->claim.cut && drain->stats.lost_corrupt == n_corrupt &&
		    process->fill > pass->fill)
			pass->fill = process->fill;
		if (process->n_slots > pass->n_slots)
			pass->n_slots = process->n_slots;
		if (process->pidfd < 0 && !process_alive(process))
			bury(collector, process);
	}
	pass->n_taken = drain->stats.perf_threads;
	pass->period_ns = drain->rate.period_ns;
}

static bool read_usage(struct drain *drain, uint64_t now_ns)
{
	if (!usage_begin(&drain->usage, drain_charged_ns(drain), now_ns))
		return false;
	for (struct process *process = drain->processes; process; process = process->next)
		usage_add(&drain->usage, &process->usage, &process->readings);
	usage_end(&drain->usage);
	return true;
}

static void pass(struct collector *collector)
{
	struct drain *drain = &collector->drain;
	uint64_t start_ns = io_now_ns();
	struct poll_interval_pass pass = {.now_ns = start_ns};
	uint64_t external_ns;

	drain->stats.as_of_ns = start_ns;
	pass_all(collector, &pass);
	if (drain->child_pidfd < 0 && collector->child > 0)
		wait_child(collector);
	wall_turn_all(collector);
	exec_watch_check(collector, start_ns);
	recording_totals_turn(collector, start_ns);
	external_ns = drain_external_turns(collector);
	top_scan(&drain->filter.top, drain->processes, start_ns);
	if (read_usage(drain, start_ns))
		queue_nudge(&collector->queue);
	handshake_expire(collector, start_ns);
	stream_flush(&drain->stream, start_ns - HOLD_BACK_MS * NS_PER_MS);
	rate_change_by_lag(collector, start_ns, pass.fill);
	if (drain->barrier_ns <= start_ns - HOLD_BACK_MS * NS_PER_MS)
		drain->barrier_ns = 0;
	rate_change_by_budget(collector);
	publish(collector);
	due_plan(collector, &pass, external_ns);
}

void drain_detach(struct collector *collector, struct process *process)
{
	atomic_store_explicit(&process->ring.header->stop, 1, memory_order_release);
	attach_ended(collector, process);
	child_cpu_end(&collector->drain, process);
	end_process(&collector->drain, process, false);
}

void drain_forget(struct collector *collector, struct process *process)
{
	collector->drain.stats.processes--;
	child_cpu_forget(&collector->drain, process);
	process->base_cpu_ns = process->charged_ns;
	end_process(&collector->drain, process, false);
}

/* What still lives is told to stop and left alone. */
static void finish_process(struct collector *collector, struct process *process)
{
	struct drain *drain = &collector->drain;

	if (!process_alive(process)) {
		bury(collector, process);
		return;
	}
	atomic_store_explicit(&process->ring.header->stop, 1, memory_order_release);
	drain->stats.still_running++;
	child_cpu_outlives(drain, process);
	end_process(drain, process, false);
}

static void finish(struct collector *collector)
{
	struct drain *drain = &collector->drain;

	request_close(collector);
	handshake_close(collector);
	directory_release(&collector->directory);
	while (drain->processes)
		finish_process(collector, drain->processes);
	stream_flush(&drain->stream, UINT64_MAX);
	publish(collector);
	if (queue_admit(&collector->queue, drain->end))
		queue_put(&collector->queue, steal_pointer(&drain->end));
	queue_hand_over(&collector->queue);
}

void *drain_main(void *argument)
{
	struct collector *collector = argument;
	struct drain *drain = &collector->drain;

	(void)prctl(PR_SET_NAME, "wick-drain");
	if (drain->child_pidfd >= 0 &&
	    drain_watch_fd(drain, drain->child_pidfd, SOURCE_CHILD, 0) < 0)
		poll_child(drain);
	while (!drain->ending) {
		wait_for_pass(collector);
		if (!drain->ending)
			pass(collector);
	}
	finish(collector);
	return NULL;
}
