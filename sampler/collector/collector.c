/* collector.c - the collector as its users see it */
#include "sampler/collector/collector.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/units.h"
#include "sampler/collector/drain/attach.h"
#include "sampler/collector/drain/drain.h"
#include "sampler/collector/drain/drain_external.h"
#include "sampler/collector/drain/follow.h"
#include "sampler/collector/drain/rate_change.h"
#include "sampler/collector/drain/recording_totals.h"
#include "sampler/collector/launch/launch.h"
#include "sampler/procfs/proc.h"
#include "sampler/remote/remote.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#define QUEUE_DEFAULT_BYTES ((size_t)256 << 20)
#define QUEUE_LEAST_BYTES   ((size_t)64 << 10)

static int copy_options(struct collector *collector, const struct collector_options *options,
			struct err *err)
{
	if (options->hz < 1 || options->hz > COLLECTOR_MAX_HZ)
		return err_set(err, EINVAL, "sample at %u Hz", options->hz);
	if (options->n_gauges > METRIC_MAX_GAUGES)
		return err_set(err, EINVAL, "read %zu gauges", options->n_gauges);
	if (options->agent_path[0] != '/' || access(options->agent_path, R_OK) < 0)
		return err_set(err, options->agent_path[0] == '/' ? errno : EINVAL,
			       "read the agent '%s'", options->agent_path);
	collector->options = *options;
	collector->options.agent_path = strdup(options->agent_path);
	if (!collector->options.agent_path)
		return err_set(err, ENOMEM, "start the collector");
	return 0;
}

static size_t queue_limit(const struct collector_options *options)
{
	if (options->queue_bytes == 0)
		return QUEUE_DEFAULT_BYTES;
	return options->queue_bytes < QUEUE_LEAST_BYTES ? QUEUE_LEAST_BYTES : options->queue_bytes;
}

/* A thread that shows itself by no CPU is found where it begins. */
static void settle_engine(struct collector_options *options)
{
	options->perf.base = perf_base();
	if (options->events & COLLECT_COUNT)
		options->discovery = DISCOVERY_HOOKS;
}

int collector_new(const struct collector_options *options, struct collector **ret_collector,
		  struct err *err)
{
	struct collector *collector = calloc(1, sizeof(*collector));
	int r;

	if (!collector)
		return err_set(err, ENOMEM, "start the collector");
	collector->drain.epoll_fd = -1;
	collector->drain.child_pidfd = -1;
	collector->drain.spare_fd = -1;
	collector->wake_fd = -1;
	collector->image_fd = -1;
	request_init(&collector->request);
	r = queue_init(&collector->queue, queue_limit(options));
	if (r < 0) {
		free(collector);
		return err_set(err, -r, "start the collector");
	}
	(void)pthread_mutex_init(&collector->published.lock, NULL);
	(void)pthread_mutex_init(&collector->rate_request.lock, NULL);
	(void)pthread_mutex_init(&collector->drain.pids_lock, NULL);
	collector->rate_request.hz = options->hz;
	collector->rate_request.paused = options->paused;
	r = copy_options(collector, options, err);
	if (r == 0)
		r = directory_init(&collector->directory, options->agent_path, err);
	if (r == 0 && (options->events & (COLLECT_ALLOC | COLLECT_LOCK)))
		r = directory_add_hooks(&collector->directory, options->agent_path, err);
	if (r == 0) {
		collector->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		r = collector->wake_fd < 0 ? -errno : drain_init(collector);
		if (r < 0)
			(void)err_set(err, -r, "start the collector");
	}
	if (r < 0) {
		collector_free(collector);
		return r;
	}
	launch_raise_limits(&collector->limits);
	settle_engine(&collector->options);
	*ret_collector = collector;
	return 0;
}

/* Signals are the main thread's: none may end up in the drain thread. */
static int start_thread(struct collector *collector)
{
	sigset_t all;
	sigset_t before;
	int r;

	rate_change_init(collector);
	collector->drain.lag.breaker =
		(struct breaker){.late_ns = collector->options.breaker_late_ns,
				 .pause_ns = collector->options.breaker_pause_ns};
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&collector->thread, NULL, drain_main, collector);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	collector->running = r == 0;
	return -r;
}

int collector_launch(struct collector *collector, char *const *argv,
		     const struct collector_signals *signals, pid_t *ret_pid, struct err *err)
{
	const struct launch launch = {.argv = argv,
				      .signals = signals,
				      .limits = &collector->limits,
				      .socket = collector->directory.socket,
				      .agent = collector->directory.preload,
				      .alone = collector->options.external_only};
	_cleanup_free_ struct launched *launched = calloc(1, sizeof(*launched));
	int r;

	if (!launched)
		return err_set(err, ENOMEM, "run '%s'", argv[0]);
	r = launch_start(&launch, launched, err);
	if (r < 0)
		return r;
	collector->child = launched->pid;
	collector->drain.child_pidfd = proc_pidfd(launched->pid);
	if (unsupported_why(launched->kind) || collector->options.external_only)
		collector->launched_external =
			drain_external_start(collector, launched->pid, launched->path,
					     launched->kind) == 0;
	*ret_pid = launched->pid;
	r = start_thread(collector);
	if (r < 0)
		return err_set(err, -r, "start a thread");
	return 0;
}

bool collector_launched_external(const struct collector *collector)
{
	return collector->launched_external;
}

int collector_begin(struct collector *collector, struct err *err)
{
	int r = start_thread(collector);

	return r < 0 ? err_set(err, -r, "start a thread") : 0;
}

static void give_labels(struct collector *collector, const struct event *node,
			struct sample *ret_sample)
{
	const char *at = event_labels(node);

	for (size_t i = 0; i < node->sample.n_labels; i++) {
		const char *value = at + strlen(at) + 1;

		collector->labels[i] = (struct sample_label){.key = at, .value = value};
		at = value + strlen(value) + 1;
	}
	ret_sample->n_labels = node->sample.n_labels;
	ret_sample->labels = collector->labels;
}

static void give_sample(struct collector *collector, const struct event *node,
			struct sample *ret_sample)
{
	const struct event_sample *from = &node->sample;

	*ret_sample = (struct sample){.time_ns = node->time_ns,
				      .process = node->process_number,
				      .pid = node->pid,
				      .tid = (pid_t)from->tid,
				      .cpu = from->cpu,
				      .event = from->event,
				      .weight = from->weight,
				      .state = from->state,
				      .wait = from->wait,
				      .op = from->op,
				      .n_metrics = METRIC_BUILTIN + collector->options.n_gauges,
				      .n_frames = from->n_pcs,
				      .frames = collector->frames,
				      .truncated = from->truncated};
	memcpy(ret_sample->comm, from->comm, sizeof(from->comm));
	memcpy(ret_sample->object, from->object, sizeof(from->object));
	memcpy(ret_sample->metrics, from->metrics, sizeof(from->metrics));
	ret_sample->n_waker = from->n_waker;
	ret_sample->waker_tid = (pid_t)from->waker_tid;
	give_labels(collector, node, ret_sample);
	for (size_t i = 0; i < from->n_kernel; i++)
		collector->frames[i] = (struct frame){.addr = node->pcs[i], .exact = i == 0};
	for (size_t i = from->n_kernel; i < (size_t)from->n_pcs + from->n_waker; i++)
		collector->frames[i] = (struct frame){.addr = node->pcs[i] & ~PC_EXACT,
						      .exact = (node->pcs[i] & PC_EXACT) != 0};
}

_Static_assert((int)SAMPLE_MAX_FRAMES >= (int)RECORD_MAX_PCS, "a record's stack fits");

void collector_next(struct collector *collector, uint64_t timeout_ns,
		    struct collector_event *ret_event)
{
	struct event *node;

	queue_forget(&collector->queue, collector->current);
	node = queue_take(&collector->queue, timeout_ns);
	collector->current = node;
	ret_event->kind = COLLECTOR_IDLE;
	if (!node)
		return;
	switch (node->kind) {
	case EVENT_KIND_SAMPLE:
		ret_event->kind = COLLECTOR_SAMPLE;
		give_sample(collector, node, &ret_event->sample);
		break;
	case EVENT_KIND_MAPPING:
		ret_event->kind = COLLECTOR_MAPPING;
		ret_event->mapping = node->mapping;
		break;
	case EVENT_KIND_RATE:
		ret_event->kind = COLLECTOR_RATE;
		ret_event->rate = node->rate;
		break;
	case EVENT_KIND_EXIT:
		ret_event->kind = COLLECTOR_EXIT;
		ret_event->process = node->process_number;
		ret_event->pid = node->pid;
		ret_event->ended_by = node->ended_by;
		break;
	default:
		ret_event->kind = COLLECTOR_END;
		break;
	}
}

void collector_price(struct collector *collector, const struct collector_prices *prices)
{
	struct overhead *overhead = &collector->drain.overhead;

	atomic_store_explicit(&overhead->event_ns, prices->event_ns, memory_order_relaxed);
	atomic_store_explicit(&overhead->switch_ns, prices->switch_ns, memory_order_relaxed);
}

uint64_t collector_barrier(struct collector *collector)
{
	return rate_request(collector, NULL, NULL);
}

uint64_t collector_pause(struct collector *collector)
{
	const bool paused = true;

	return rate_request(collector, NULL, &paused);
}

uint64_t collector_resume(struct collector *collector)
{
	const bool paused = false;

	return rate_request(collector, NULL, &paused);
}

uint64_t collector_set_hz(struct collector *collector, uint32_t hz)
{
	return hz < 1 || hz > COLLECTOR_MAX_HZ ? 0 : rate_request(collector, &hz, NULL);
}

void collector_nudge(struct collector *collector)
{
	atomic_store_explicit(&collector->nudge, true, memory_order_release);
	drain_wake(collector);
}

int collector_watch(struct collector *collector, int fd)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET,
				    .data.u64 = (uint64_t)SOURCE_CALLER << 32};

	return epoll_ctl(collector->drain.epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

void collector_detach(struct collector *collector)
{
	atomic_store_explicit(&collector->detach, true, memory_order_release);
	drain_wake(collector);
}

bool collector_status(struct collector *collector, int *ret_status)
{
	struct published *published = &collector->published;
	bool ended;

	(void)pthread_mutex_lock(&published->lock);
	ended = published->child_ended;
	if (ended)
		*ret_status = published->child_status;
	(void)pthread_mutex_unlock(&published->lock);
	return ended;
}

void collector_stats(struct collector *collector, struct collector_stats *ret_stats)
{
	struct published *published = &collector->published;
	struct unsupported_list *list = &collector->unsupported;

	(void)pthread_mutex_lock(&published->lock);
	*ret_stats = published->stats;
	*list = published->unsupported;
	(void)pthread_mutex_unlock(&published->lock);
	for (size_t i = 0; i < list->n; i++)
		collector->unsupported_views[i] =
			(struct collector_unsupported){.pid = list->at[i].pid,
						       .path = list->at[i].path,
						       .why = unsupported_why(list->at[i].kind),
						       .count = list->at[i].count};
	ret_stats->unsupported = collector->unsupported_views;
	ret_stats->n_unsupported = list->n;
}

void collector_usage(struct collector *collector, struct collector_usage *ret_usage)
{
	(void)pthread_mutex_lock(&collector->published.lock);
	*ret_usage = collector->published.usage;
	(void)pthread_mutex_unlock(&collector->published.lock);
}

int collector_attach(struct collector *collector, pid_t pid,
		     struct collector_attached *ret_attached, struct err *err)
{
	return attach_process(collector, pid, false, ret_attached, err);
}

int collector_attach_check(pid_t pid, struct collector_attached *ret_attached, struct err *err)
{
	return attach_probe(pid, ret_attached, err);
}

int collector_follow(struct collector *collector, pid_t pid,
		     struct collector_attached *ret_attached, struct err *err)
{
	int r = attach_process(collector, pid, true, ret_attached, err);
	struct err why = {0};

	if (r != -ENOEXEC || !collector->options.external_sampler)
		return r;
	r = drain_external_attach(collector, pid, true, &why);
	if (r < 0)
		*err = why;
	return r;
}

void collector_follow_children(struct collector *collector, int (*attach)(void *context, pid_t pid),
			       void *context, uint64_t now_ns)
{
	const struct follow_ops ops = {.attach = attach, .context = context};

	follow_scan(&collector->follow, collector, &ops, now_ns);
}

uint64_t collector_follow_due_ns(const struct collector *collector)
{
	return collector->follow.next_ns;
}

int collector_attach_external(struct collector *collector, pid_t pid, struct err *err)
{
	return drain_external_attach(collector, pid, false, err);
}

static int let_go(struct collector *collector, void *argument)
{
	const pid_t *pid = argument;
	struct process *process = map_get(&collector->drain.by_pid, (uint64_t)*pid);

	if (!process)
		return -ESRCH;
	drain_detach(collector, process);
	return 0;
}

int collector_detach_process(struct collector *collector, pid_t pid)
{
	return request_make(collector, let_go, &pid);
}

bool collector_records(struct collector *collector, pid_t pid)
{
	return drain_records(collector, pid);
}

int collector_examine(const char *command, struct collector_program *ret_program, struct err *err)
{
	struct program program = {0};
	char path[PATH_MAX];
	int r = search_program(command, path, sizeof(path), err);

	if (r < 0)
		return r;
	search_examine(path, &program);
	*ret_program = (struct collector_program){.why = unsupported_why(program.kind)};
	if (program.kind == PROGRAM_NOT_ELF && !search_is_text(path))
		ret_program->why = "no program"; /* a text without #! is run by the shell */
	(void)snprintf(ret_program->path, sizeof(ret_program->path), "%s", path);
	(void)snprintf(ret_program->interpreter, sizeof(ret_program->interpreter), "%s",
		       program.interpreter);
	return 0;
}

const char *collector_stop_text(unsigned stop)
{
	return remote_stop_text(stop);
}

/* The drain thread is about to return: what it leaves is read here. */
static void join(struct collector *collector)
{
	(void)pthread_join(collector->thread, NULL);
	collector->running = false;
}

static int make_request(struct collector *collector,
			int (*run)(struct collector *collector, void *argument), void *argument)
{
	int r = request_make(collector, run, argument);

	if (r != -ESHUTDOWN)
		return r;
	join(collector);
	return run(collector, argument);
}

int collector_totals(struct collector *collector, struct totals *ret_totals)
{
	return make_request(collector, recording_totals_get, ret_totals);
}

int collector_totals_reset(struct collector *collector)
{
	return make_request(collector, recording_totals_reset, NULL);
}

void collector_free(struct collector *collector)
{
	if (!collector)
		return;
	if (collector->running) {
		collector_detach(collector);
		join(collector);
	}
	drain_release(collector);
	directory_release(&collector->directory);
	launch_restore_limits(&collector->limits);
	queue_forget(&collector->queue, collector->current);
	queue_release(&collector->queue);
	(void)pthread_mutex_destroy(&collector->published.lock);
	(void)pthread_mutex_destroy(&collector->rate_request.lock);
	(void)pthread_mutex_destroy(&collector->drain.pids_lock);
	if (collector->wake_fd >= 0)
		(void)close(collector->wake_fd);
	if (collector->image_fd >= 0)
		(void)close(collector->image_fd);
	request_release(&collector->request);
	follow_release(&collector->follow);
	free((char *)collector->options.agent_path);
	free(collector);
}
