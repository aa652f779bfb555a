/* engine.c - samples processes without an agent, by holding threads that run for a moment */
#include "sampler/collector/external/engine.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/units.h"
#include "sampler/collector/event/event.h"
#include "sampler/collector/external/engine_internal.h"
#include "sampler/collector/process/process.h"
#include "sampler/collector/process/process_event.h"
#include "sampler/collector/process/wall.h"
#include "sampler/external/held.h"
#include "sampler/procfs/proc.h"
#include "sampler/procfs/proc_status.h"
#include "sampler/procfs/task.h"
#include "sampler/remote/blocked.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ENGINE_REST_MS = 100, /* between two checks of what stops took */
	ENGINE_DOUBT = 10,    /* periods that no sample stands for: then any place will do */
	ENGINE_LATE_MS = 20,  /* how late the scheduler may write running down, on all processors */
};

static int begin(pid_t pid, uint64_t cpu_ns, struct external_process **ret_external)
{
	struct engine *engine = calloc(1, sizeof(*engine));
	int r;

	if (!engine)
		return -ENOMEM;
	engine->external.how = external_engine();
	engine->base_ns = cpu_ns;
	engine->tasks_fd = task_open_all(pid);
	r = engine->tasks_fd < 0 ? -ESRCH : remote_new(&engine->remote, pid);
	/* There is no stack at 0: only the permission to read matters. */
	if (r == 0 && (r = remote_begin(engine->remote, 0)) == -EFAULT)
		r = 0;
	if (r < 0) {
		engine->external.how->free(&engine->external);
		return r;
	}
	*ret_external = &engine->external;
	return 0;
}

static void free_engine(struct external_process *external)
{
	struct engine *engine = (struct engine *)external;

	engine_forget(engine);
	remote_free(engine->remote);
	cleanup_fd(&engine->tasks_fd);
	free(engine);
}

/* CPU of the process that neither samples nor threads that live account for. */
static uint64_t unaccounted_ns(const struct engine *engine, const struct process *process,
			       uint64_t cpu_ns)
{
	uint64_t known_ns = engine->base_ns + process->given_ns + engine->residual_ns;

	return cpu_ns > known_ns ? cpu_ns - known_ns : 0;
}

static struct event *node_of(const struct external_turn *turn, const struct engine_thread *thread)
{
	const struct engine_last *last = thread->last;
	size_t bytes = last ? last->n_pcs * sizeof(last->pcs[0]) : 0;
	struct event *node = event_new(EVENT_KIND_SAMPLE, turn->process, turn->now_ns, bytes);

	if (!node)
		return NULL;
	node->sample.tid = thread->tid;
	node->sample.cpu = thread->cpu;
	node->sample.event = EVENT_CPU;
	node->sample.state = STATE_RUNNING;
	node->sample.metrics[METRIC_CPU_NS].value = (int64_t)thread->seen.run_ns;
	node->sample.metrics[METRIC_RUN_DELAY_NS].value = (int64_t)thread->seen.delay_ns;
	if (!last)
		return node;
	node->sample.n_pcs = last->n_pcs;
	node->sample.stop = last->stop;
	node->sample.truncated = last->stop == UNWIND_DEPTH;
	node->sample.metrics[METRIC_STACK_BYTES].value = last->stack_bytes;
	memcpy(node->pcs, last->pcs, bytes);
	return node;
}

/* Its stack that was found last stands for NS of CPU.  In wall mode the account knows better. */
static void give(const struct external_turn *turn, const struct engine_thread *thread, uint64_t ns)
{
	struct process *process = turn->process;
	struct event *node = node_of(turn, thread);

	process->given_ns += ns;
	if (!node) {
		event_order_push(turn->sink, NULL);
		return;
	}
	mappings_check(&process->mappings, node->pcs, node->sample.n_pcs, turn->now_ns);
	if (process->wall) {
		node->sample.weight = 1;
		wall_add_sample(process->wall, node);
		return;
	}
	/* Counted in ns: the stream makes whole periods of them, and keeps the rest. */
	node->sample.weight = ns;
	node->sample.period_ns = 1;
	process_fill_metrics(process, &node->sample, turn->now_ns);
	if (turn->now_ns > process->latest_ns)
		process->latest_ns = turn->now_ns;
	event_order_push(turn->sink, node);
}

static void count_stop(const struct external_turn *turn, uint64_t ns)
{
	struct collector_stats *stats = turn->sink->stats;

	stats->external_stops++;
	if (ns > stats->external_longest_ns)
		stats->external_longest_ns = ns;
}

static uint64_t switches_of(pid_t pid, uint32_t tid)
{
	struct proc_status status;
	uint64_t n = 0;

	if (proc_status_read(&status, pid, tid) == 0)
		n = proc_status_number(&status, "voluntary_ctxt_switches", 10);
	proc_status_release(&status);
	return n;
}

/* What its stops have taken since: the time that it was held, where nothing better is known. */
static uint64_t stopped_ns(struct engine_rest *rest, const struct engine_rest *now)
{
	uint64_t past_ns = now->since_ns - rest->since_ns;
	uint64_t used_ns =
		now->then.run_ns - rest->then.run_ns + (now->then.delay_ns - rest->then.delay_ns);
	int64_t ns = rest->residual_ns;

	if (rest->since_ns && now->switches - rest->switches == rest->stops)
		ns += (int64_t)(past_ns - used_ns);
	else
		ns += (int64_t)rest->held_ns;
	rest->residual_ns = ns < 0 ? ns : 0;
	return ns > 0 ? (uint64_t)ns : 0;
}

static void count_rest(const struct external_turn *turn, struct engine_thread *thread,
		       const struct held *held)
{
	struct engine_rest *rest = &thread->rest;
	struct engine_rest now = {.since_ns = held->at_ns, .then = held->at};

	rest->stops++;
	rest->held_ns += held->stopped_ns;
	if (held->at.run_ns == 0)
		return;
	now.switches = switches_of(turn->process->pid, thread->tid);
	turn->sink->stats->external_stopped_ns += stopped_ns(rest, &now);
	now.residual_ns = rest->residual_ns;
	*rest = now;
}

/*
 * A thread that shares a processor is preempted where the kernel notices that it has run enough,
 * and is found there: at a tick, but also in system calls that look at its clock or wake others.
 * So the end of a call is taken for its place no more often than it was in calls.  What it has
 * used stays in its residual, but not for ever.
 */
static bool is_believed(struct engine_thread *thread, const struct external_turn *turn,
			uint64_t calls_ns)
{
	if (thread->residual_ns < ENGINE_DOUBT * turn->every_ns &&
	    thread->start_ns + thread->calls_ns + thread->residual_ns / 2 > calls_ns)
		return false;
	thread->calls_ns += thread->residual_ns;
	return true;
}

/* Return: false without memory. */
static bool keep_stack(const struct engine *engine, struct engine_thread *thread,
		       const struct held *held)
{
	struct engine_last *last = thread->last ? thread->last : malloc(sizeof(*last));

	if (!last)
		return false;
	thread->last = last;
	memcpy(last->pcs, engine->pcs, held->result.n_pcs * sizeof(last->pcs[0]));
	last->n_pcs = (uint16_t)held->result.n_pcs;
	last->stop = (uint8_t)held->result.stop;
	last->stack_bytes =
		held->result.cfa > held->sp ? (int64_t)(held->result.cfa - held->sp) : 0;
	return true;
}

/* Return: whether its stack, which is the last one then, is a sample. */
static bool hold(struct engine *engine, const struct external_turn *turn,
		 struct engine_thread *thread)
{
	struct task_stat stat = {.cpu = thread->cpu}; /* should it have ended since */
	struct held held;
	bool believed;
	bool rest = io_now_ns() - thread->rest.since_ns > ENGINE_REST_MS * NS_PER_MS;
	int r = held_walk(engine->remote, (pid_t)thread->tid, engine->pcs, SAMPLE_MAX_FRAMES,
			  rest ? thread->schedstat_fd : -1, &held);

	/* It stops when it has a processor, and is detached later. */
	thread->rest.stops += r == -EINPROGRESS;
	if (r < 0)
		return false;
	count_stop(turn, held.stopped_ns);
	count_rest(turn, thread, &held);
	(void)task_read_stat(engine->tasks_fd, thread->tid, &stat);
	thread->cpu = stat.cpu;
	believed = !held.in_call || is_believed(thread, turn, engine_calls_ns(&stat));
	thread->unsure = !believed && !turn->again;
	if (!believed && thread->last)
		return false;
	return keep_stack(engine, thread, &held) && believed;
}

/* Add what it has used since the last turn to its residual.  Return: whether it may run now. */
static bool account(struct engine *engine, struct engine_thread *thread)
{
	struct schedstat now;
	bool changed;

	if (task_read_schedstat(thread->schedstat_fd, &now) < 0)
		return false;
	changed = now.run_ns != thread->seen.run_ns || now.slices != thread->seen.slices;
	if (now.run_ns > thread->seen.run_ns) {
		thread->residual_ns += now.run_ns - thread->seen.run_ns;
		engine->residual_ns += now.run_ns - thread->seen.run_ns;
	}
	thread->seen = now;
	changed = changed || thread->ran;
	thread->ran = false;
	return changed;
}

static void sample(struct engine *engine, const struct external_turn *turn,
		   struct engine_thread *thread)
{
	const uint64_t late_ns = ENGINE_LATE_MS * NS_PER_MS;
	struct blocked_at at;
	uint64_t more_ns = 0; /* used by threads that cannot be told apart */
	uint64_t ns;

	if (blocked_read(thread->syscall_fd, &at) != -EBUSY)
		return;
	thread->ran = true;
	if (thread->residual_ns == 0 || io_now_ns() >= turn->deadline_ns ||
	    !hold(engine, turn, thread))
		return;
	/* The scheduler writes running down late: less than that is no debt. */
	if (engine->n_threads == 1)
		more_ns = unaccounted_ns(engine, turn->process, proc_cpu_ns(turn->process->pid));
	ns = thread->residual_ns + (more_ns > late_ns ? more_ns - late_ns : 0);
	engine->residual_ns -= thread->residual_ns;
	thread->residual_ns = 0;
	give(turn, thread, ns);
}

/* A pause leaves no residual. */
static void forgive(struct engine *engine, const struct external_turn *turn)
{
	for (size_t i = 0; i < engine->n_threads; i++) {
		(void)account(engine, &engine->threads[i]);
		engine->residual_ns -= engine->threads[i].residual_ns;
		engine->threads[i].residual_ns = 0;
	}
	engine->base_ns += unaccounted_ns(engine, turn->process, proc_cpu_ns(turn->process->pid));
}

static void turn_engine(struct external_process *external, const struct external_turn *turn)
{
	struct engine *engine = (struct engine *)external;
	size_t n;

	if (!turn->again)
		engine_list(engine, turn);
	n = engine->n_threads;
	engine->turned_ns = turn->now_ns;
	external->unsure = false;
	if (turn->paused) {
		forgive(engine, turn);
		return;
	}
	/* One after another is first, so that a deadline hits all alike. */
	for (size_t i = 0; i < n; i++) {
		struct engine_thread *thread = &engine->threads[(engine->next + i) % n];

		if (turn->again && !thread->unsure)
			continue;
		thread->unsure = false;
		if (account(engine, thread))
			sample(engine, turn, thread);
		external->unsure = external->unsure || thread->unsure;
	}
	engine->next = n ? (engine->next + 1) % n : 0;
}

void engine_settle(struct engine *engine, const struct external_turn *turn,
		   struct engine_thread *thread, uint64_t more_ns)
{
	uint64_t ns = thread->residual_ns + more_ns;

	engine->residual_ns -= thread->residual_ns;
	thread->residual_ns = 0;
	if (ns >= turn->process->period_ns / 2 && !turn->paused && !turn->process->wall)
		give(turn, thread, ns);
}

/* What threads have used that no sample stands for, and what they may have used since their turn.
 */
static void end(struct external_process *external, const struct external_turn *turn)
{
	struct engine *engine = (struct engine *)external;
	uint64_t left_ns = unaccounted_ns(engine, turn->process, turn->process->charged_ns);
	uint64_t most_ns = turn->now_ns - engine->turned_ns;

	for (size_t i = 0; i < engine->n_threads; i++) {
		struct engine_thread *thread = &engine->threads[i];
		uint64_t more_ns = left_ns / (engine->n_threads - i);

		more_ns = engine->n_threads == 1 || more_ns < most_ns ? more_ns : most_ns;
		left_ns -= more_ns;
		turn->sink->stats->external_stopped_ns += thread->rest.held_ns;
		engine_settle(engine, turn, thread, more_ns);
	}
}

const struct collector_external_sampler *external_engine(void)
{
	static const struct collector_external_sampler engine = {
		.begin = begin, .turn = turn_engine, .end = end, .free = free_engine};

	return &engine;
}
