/* wall_thread.c - one thread as wall mode sees it, running or blocked */
#include "sampler/collector/process/wall_thread.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "sampler/collector/context/contexts.h"
#include "sampler/collector/context/labels.h"
#include "sampler/collector/process/process.h"
#include "sampler/collector/process/process_event.h"
#include "sampler/collector/process/wall.h"
#include "sampler/procfs/task.h"
#include "sampler/remote/waits.h"
#include "sampler/unwind/unwind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	WALL_LENT = 4,         /* stacks that wait for the next period of their thread */
	WALL_WALKS = 3,        /* tries in one reading of a thread that runs on */
	WALL_COMM_MS = 1000,   /* between two reads of the name of a running thread */
	WALL_OBJECT_MS = 1000, /* between two reads of what it waits for, in the same call */
	WALL_CALM = 16,        /* ticks without a change after which none is expected soon */
	WALL_KEPT_AT = 128,    /* threads of a process for which two descriptors are kept */
	WALL_SEEK = 4,         /* searches of the thread pointer of one thread */
	WALL_FD_PART = 8,      /* the part of the descriptors that is for schedstat alone */
};

/* What a reading found of a thread that has run. */
enum found {
	FOUND_BLOCKED,
	FOUND_RUNNING, /* or waiting for a CPU */
	FOUND_MOVING,  /* it ran while its stack was read */
	FOUND_DEAD,
};

/* In what it was found blocked. */
struct found_wait {
	struct blocked_at at;
	struct task_stat stat;
	bool readable;
	size_t n_pcs;
	uint8_t stop;
	int64_t bytes;
	struct labels labels;
	uint64_t pcs[SAMPLE_MAX_FRAMES];
};

static void keep_stack(struct wall_stack *stack, const uint64_t *pcs, size_t n, uint8_t stop,
		       int64_t bytes)
{
	uint64_t *copy = n > stack->n ? realloc(stack->pcs, n * sizeof(*copy)) : stack->pcs;

	if (!copy && n > 0)
		return; /* the old one stands */
	if (n > 0)
		memcpy(copy, pcs, n * sizeof(*copy));
	stack->pcs = copy;
	stack->n = (uint16_t)n;
	stack->stop = stop;
	stack->bytes = bytes;
}

static void release_stack(struct wall_stack *stack)
{
	free(stack->pcs);
	free(stack->labels);
	*stack = (struct wall_stack){0};
}

static void drop_lent(struct wall_thread *thread)
{
	struct event *node = thread->cpu_samples;

	thread->cpu_samples = node->next;
	thread->n_cpu_samples--;
	free(node);
}

void wall_thread_free(struct wall_thread *thread)
{
	if (!thread)
		return;
	while (thread->cpu_samples)
		drop_lent(thread);
	cleanup_fd(&thread->schedstat_fd);
	cleanup_fd(&thread->syscall_fd);
	release_stack(&thread->blocked);
	release_stack(&thread->ran);
	free(thread);
}

void wall_thread_add_sample(struct wall_thread *thread, struct event *node)
{
	struct event **at = &thread->cpu_samples;

	if (thread->ended) {
		free(node);
		return;
	}
	if (thread->n_cpu_samples == WALL_LENT)
		drop_lent(thread);
	while (*at)
		at = &(*at)->next;
	node->next = NULL;
	*at = node;
	thread->n_cpu_samples++;
}

/* The process goes with its last node: none may be later than it knows of. */
static void push(const struct wall_scan *scan, struct event *node)
{
	struct process *process = scan->process;

	node->time_ns = scan->now_ns;
	if (scan->now_ns > process->latest_ns)
		process->latest_ns = scan->now_ns;
	event_order_push(scan->sink, node);
}

/* schedstat is as old as the sample; the record of a CPU sample's stack may be older. */
static void push_sample(const struct wall_thread *thread, const struct wall_scan *scan,
			struct event *node)
{
	const struct schedstat *seen = &thread->account.seen;

	node->sample.tid = thread->tid;
	node->sample.event = EVENT_WALL;
	node->sample.metrics[METRIC_CPU_NS].value = (int64_t)seen->run_ns;
	node->sample.metrics[METRIC_RUN_DELAY_NS].value = (int64_t)seen->delay_ns;
	process_fill_metrics(scan->process, &node->sample, scan->now_ns);
	push(scan, node);
}

static struct event *node_of_stack(const struct wall_thread *thread, const struct wall_scan *scan,
				   const struct wall_stack *stack)
{
	size_t bytes = stack->n * sizeof(stack->pcs[0]);
	struct event *node = event_new(EVENT_KIND_SAMPLE, scan->process, scan->now_ns, bytes);

	if (!node)
		return NULL;
	node->sample.cpu = thread->cpu;
	node->sample.n_pcs = stack->n;
	node->sample.stop = stack->stop;
	node->sample.truncated = stack->stop == UNWIND_DEPTH;
	node->sample.metrics[METRIC_STACK_BYTES].value = stack->bytes;
	if (bytes > 0)
		memcpy(node->pcs, stack->pcs, bytes);
	return stack->labels ? event_with_labels(node, stack->labels) : node;
}

static void give_stack(struct wall_thread *thread, const struct wall_scan *scan,
		       enum sample_state state, const struct wall_stack *stack, uint64_t weight)
{
	struct event *node;

	if (weight == 0)
		return;
	node = node_of_stack(thread, scan, stack);
	if (!node) {
		event_order_push(scan->sink, NULL);
		return;
	}
	node->sample.weight = weight;
	node->sample.state = state;
	if (state != STATE_RUNNING && state != STATE_RUNNABLE) {
		node->sample.wait = thread->wait;
		memcpy(node->sample.object, thread->object, sizeof(thread->object));
	}
	push_sample(thread, scan, node);
}

/* What was running before it waited for a CPU, or what it was woken from. */
static const struct wall_stack *running_stack(const struct wall_thread *thread)
{
	return thread->ran.n > 0 ? &thread->ran : &thread->blocked;
}

/* The oldest CPU sample stands for WEIGHT periods, whatever it counted itself. */
static void give_lent(struct wall_thread *thread, const struct wall_scan *scan, uint64_t weight)
{
	struct event *node = thread->cpu_samples;

	thread->cpu_samples = node->next;
	thread->n_cpu_samples--;
	node->next = NULL;
	keep_stack(&thread->ran, node->pcs, node->sample.n_pcs, node->sample.stop,
		   node->sample.metrics[METRIC_STACK_BYTES].value);
	thread->ran.labels = labels_keep(thread->ran.labels, node->sample.n_labels,
					 event_labels(node), node->sample.label_bytes);
	thread->cpu = node->sample.cpu;
	node->sample.weight = weight;
	node->sample.state = STATE_RUNNING;
	push_sample(thread, scan, node);
}

static void give_running(struct wall_thread *thread, const struct wall_scan *scan, uint64_t weight)
{
	while (weight > 0 && thread->cpu_samples) {
		uint64_t own = thread->cpu_samples->sample.weight;
		uint64_t part = thread->n_cpu_samples > 1 && own < weight ? own : weight;

		give_lent(thread, scan, part);
		weight -= part;
	}
	give_stack(thread, scan, STATE_RUNNING, running_stack(thread), weight);
}

static void give_blocked(struct wall_thread *thread, const struct wall_scan *scan)
{
	uint64_t weight;

	if (thread->state == STATE_RUNNING)
		return; /* it was never found blocked */
	weight = wall_account_take(&thread->account, thread->state);
	give_stack(thread, scan, thread->state, &thread->blocked, weight);
}

static void read_comm(struct wall_thread *thread, const struct wall_scan *scan)
{
	struct event *node = event_new(EVENT_KIND_THREAD, scan->process, scan->now_ns, 0);

	thread->comm_ns = scan->now_ns + WALL_COMM_MS * NS_PER_MS;
	if (!node)
		return;
	node->thread.tid = thread->tid;
	if (task_read_comm(scan->tasks_fd, thread->tid, node->thread.comm) < 0) {
		free(node);
		return;
	}
	push(scan, node);
}

static int read_schedstat(const struct wall_thread *thread, const struct wall_scan *scan,
			  struct schedstat *ret_schedstat)
{
	_cleanup_fd_ int fd = -1;

	if (thread->schedstat_fd >= 0)
		return task_read_schedstat(thread->schedstat_fd, ret_schedstat);
	fd = task_open(scan->tasks_fd, thread->tid, "schedstat");
	if (fd < 0)
		return fd == -ENOENT ? -ESRCH : fd;
	return task_read_schedstat(fd, ret_schedstat);
}

static void close_fd(int *fd)
{
	cleanup_fd(fd);
	*fd = -1;
}

static void close_at(struct wall_thread *thread, const struct wall_scan *scan)
{
	if (thread->syscall_fd < 0)
		return;
	close_fd(&thread->syscall_fd);
	--*scan->n_kept_at;
}

int wall_thread_new(struct wall_thread **ret_thread, const struct wall_scan *scan, uint32_t tid,
		    uint64_t since_ns)
{
	struct wall_thread *thread = calloc(1, sizeof(*thread));
	struct schedstat then = {0};
	int r = 0;

	if (!thread)
		return -ENOMEM;
	thread->tid = tid;
	thread->runs = true;
	thread->changed_tick = scan->tick;
	thread->syscall_fd = -1;
	thread->schedstat_fd = task_open(scan->tasks_fd, tid, "schedstat");
	if (thread->schedstat_fd >= scan->most_fd)
		close_fd(&thread->schedstat_fd);
	if (since_ns == 0)
		r = read_schedstat(thread, scan, &then);
	if (r < 0) {
		wall_thread_free(thread);
		return r;
	}
	wall_account_begin(&thread->account, scan->process->period_ns,
			   since_ns ? since_ns : scan->now_ns, &then);
	read_comm(thread, scan);
	thread->comm_ns = 0; /* it may be about to name itself */
	*ret_thread = thread;
	return 0;
}

static bool same_schedstat(const struct schedstat *a, const struct schedstat *b)
{
	return a->run_ns == b->run_ns && a->delay_ns == b->delay_ns && a->slices == b->slices;
}

static bool same_call(const struct blocked_at *a, const struct blocked_at *b)
{
	return a->in_syscall == b->in_syscall && a->nr == b->nr && a->sp == b->sp &&
	       a->pc == b->pc && memcmp(a->args, b->args, sizeof(a->args)) == 0;
}

/* The pc is right even if the stack cannot be read. */
static void keep_pc_alone(struct found_wait *wait)
{
	wait->pcs[0] = wait->at.pc | UNWIND_EXACT;
	wait->n_pcs = wait->at.pc ? 1 : 0;
	wait->stop = UNWIND_BOUNDS;
	wait->bytes = 0;
}

/* From outside, as the handler does it inside. */
static void read_labels(struct wall_thread *thread, const struct wall_scan *scan,
			struct found_wait *wait)
{
	struct contexts *contexts = scan->process->contexts;

	wait->labels.n = 0;
	wait->labels.bytes = 0;
	if (!contexts || !contexts_any(contexts))
		return;
	if (!thread->thread_pointer && thread->n_sought++ < WALL_SEEK) {
		thread->thread_pointer = contexts_thread_pointer(contexts, wait->at.sp);
		if (!thread->thread_pointer)
			thread->thread_pointer = process_thread_pointer(scan->process, thread->tid);
	}
	if (thread->thread_pointer)
		contexts_blocked(contexts, thread->thread_pointer, &wait->labels);
}

/* The stack and the labels, proven by an unchanged schedstat. */
static enum found walk(struct wall_thread *thread, const struct wall_scan *scan,
		       struct schedstat *before, struct found_wait *wait)
{
	struct collector_stats *stats = scan->sink->stats;
	struct unwind_result result = {.stop = UNWIND_BOUNDS};
	int r = blocked_walk(scan->remote, &wait->at, wait->pcs, SAMPLE_MAX_FRAMES, &result);
	struct schedstat after;

	read_labels(thread, scan, wait);
	stats->walks++;
	if (read_schedstat(thread, scan, &after) < 0)
		return FOUND_DEAD;
	wait->n_pcs = result.n_pcs;
	wait->stop = (uint8_t)result.stop;
	wait->bytes = result.cfa > wait->at.sp ? (int64_t)(result.cfa - wait->at.sp) : 0;
	if (!same_schedstat(before, &after)) {
		stats->outrun++;
		*before = after;
		return FOUND_MOVING;
	}
	if (r < 0)
		keep_pc_alone(wait);
	return FOUND_BLOCKED;
}

static int read_call(struct wall_thread *thread, const struct wall_scan *scan,
		     struct blocked_at *ret_at)
{
	_cleanup_fd_ int fd = -1;
	int r;

	if (thread->syscall_fd >= 0)
		return blocked_read(thread->syscall_fd, ret_at);
	fd = task_open(scan->tasks_fd, thread->tid, "syscall");
	if (fd < 0)
		return fd;
	r = blocked_read(fd, ret_at);
	/* What threads are known by goes first. */
	if (*scan->n_kept_at < WALL_KEPT_AT && fd < scan->most_fd - scan->most_fd / WALL_FD_PART) {
		thread->syscall_fd = steal_fd(&fd);
		++*scan->n_kept_at;
	}
	return r;
}

/* A thread that has come back to the call that it was in is as it was there, until it stays. */
static int read_state(struct wall_thread *thread, const struct wall_scan *scan,
		      struct found_wait *wait)
{
	thread->unsure =
		wait->readable && thread->letter == 'S' && same_call(&wait->at, &thread->at);
	wait->stat = (struct task_stat){.letter = thread->letter, .cpu = thread->cpu};
	return thread->unsure ? 0 : task_read_stat(scan->tasks_fd, thread->tid, &wait->stat);
}

static enum found find_once(struct wall_thread *thread, const struct wall_scan *scan,
			    struct schedstat *before, struct found_wait *wait)
{
	int r = read_call(thread, scan, &wait->at);

	if (r == -EBUSY)
		return FOUND_RUNNING;
	if (r == 0)
		waits_restarted(scan->remote, &wait->at);
	wait->readable = r == 0;
	if (r == -ENOENT || r == -ESRCH || read_state(thread, scan, wait) < 0 ||
	    wait->stat.letter == 'Z' || wait->stat.letter == 'X')
		return FOUND_DEAD;
	if (wait->readable && wait->stat.letter == 'R')
		return FOUND_MOVING; /* it was woken between the two readings */
	if (wait->readable)
		return walk(thread, scan, before, wait);
	/* Not ours to read: its state is all there is. */
	scan->sink->stats->unreadable++;
	wait->n_pcs = 0;
	wait->stop = UNWIND_BOUNDS;
	wait->bytes = 0;
	return wait->stat.letter == 'R' ? FOUND_RUNNING : FOUND_BLOCKED;
}

/*
 * A walk that the thread outran is made again at once: left for the next scan, waits that are
 * short would be missed more often than long ones.
 */
static enum found find(struct wall_thread *thread, const struct wall_scan *scan,
		       const struct schedstat *now, struct found_wait *wait)
{
	struct schedstat before = *now;

	for (int i = 0; i < WALL_WALKS; i++) {
		enum found found = find_once(thread, scan, &before, wait);

		if (found != FOUND_MOVING)
			return found;
	}
	keep_pc_alone(wait);
	return FOUND_BLOCKED;
}

/* Descriptors come again as other files: an object is not believed for ever. */
static void name_object(struct wall_thread *thread, const struct wall_scan *scan,
			const struct blocked_at *at)
{
	if (same_call(at, &thread->at) && scan->now_ns < thread->object_ns)
		return;
	thread->object_ns = scan->now_ns + WALL_OBJECT_MS * NS_PER_MS;
	waits_object(scan->remote, at, thread->object);
}

static void set_state(struct wall_thread *thread, const struct task_stat *stat,
		      const struct blocked_at *at)
{
	enum sample_state state = waits_state(stat->letter, at);

	/* Between two readings it may have been woken. */
	if (state == STATE_RUNNING || state == STATE_RUNNABLE)
		state = STATE_SLEEPING;
	thread->state = state;
	thread->letter = stat->letter;
	thread->cpu = stat->cpu;
	thread->wait = at && state != STATE_STOPPED ? waits_word(at) : NULL;
}

static void adopt(struct wall_thread *thread, const struct wall_scan *scan,
		  const struct found_wait *wait)
{
	const struct blocked_at *at = wait->readable ? &wait->at : NULL;

	set_state(thread, &wait->stat, at);
	if (at)
		name_object(thread, scan, at);
	else
		thread->object[0] = '\0';
	thread->at = wait->at;
	keep_stack(&thread->blocked, wait->pcs, wait->n_pcs, wait->stop, wait->bytes);
	thread->blocked.labels = labels_keep(thread->blocked.labels, wait->labels.n,
					     wait->labels.text, wait->labels.bytes);
	mappings_check(&scan->process->mappings, wait->pcs, wait->n_pcs, scan->now_ns);
}

/* It has run since the last scan, or may have: what rests belongs to the waits at both ends. */
static int update_changed(struct wall_thread *thread, const struct wall_scan *scan,
			  const struct schedstat *now, bool ran)
{
	struct found_wait wait;
	bool was_blocked = !thread->runs;
	enum found found;

	memset(&wait.at, 0, sizeof(wait.at));
	wait.labels.n = 0;
	wait.labels.bytes = 0;
	found = find(thread, scan, now, &wait);
	if (found == FOUND_DEAD)
		return -ESRCH;
	if (was_blocked && found == FOUND_RUNNING)
		wall_account_hold(&thread->account);
	else if (was_blocked)
		wall_account_settle(&thread->account, thread->state, 2);
	else if (found != FOUND_RUNNING || ran)
		wall_account_release(&thread->account, thread->state);
	if (!was_blocked && found == FOUND_RUNNING)
		wall_account_stay(&thread->account, WALL_CLOCK_MS * NS_PER_MS);
	give_blocked(thread, scan);
	thread->runs = found != FOUND_BLOCKED;
	if (found == FOUND_BLOCKED) {
		adopt(thread, scan, &wait);
		wall_account_settle(&thread->account, thread->state, 1);
	}
	if (scan->now_ns >= thread->comm_ns)
		read_comm(thread, scan);
	return 0;
}

/* It has not run since the last scan. */
static void update_unchanged(struct wall_thread *thread, const struct wall_scan *scan)
{
	struct task_stat stat;

	if (thread->unsure && task_read_stat(scan->tasks_fd, thread->tid, &stat) == 0)
		set_state(thread, &stat, &thread->at);
	thread->unsure = false;
	wall_account_settle(&thread->account, thread->state, 1);
	if (scan->tick - thread->changed_tick >= WALL_CALM)
		close_at(thread, scan);
}

int wall_thread_update(struct wall_thread *thread, const struct wall_scan *scan)
{
	struct wall_account *account = &thread->account;
	struct schedstat now;
	bool changed;
	bool ran;
	int r = read_schedstat(thread, scan, &now);

	if (r < 0)
		return -ESRCH;
	scan->sink->stats->thread_reads++;
	changed = thread->runs || !same_schedstat(&now, &account->seen);
	ran = now.run_ns != account->seen.run_ns;
	wall_account_update(account, scan->now_ns, &now);
	if (changed) {
		thread->changed_tick = scan->tick;
		r = update_changed(thread, scan, &now, ran);
	} else {
		update_unchanged(thread, scan);
	}
	if (r < 0)
		return r;
	if (!thread->runs)
		give_blocked(thread, scan);
	give_running(thread, scan, wall_account_take(account, STATE_RUNNING));
	give_stack(thread, scan, STATE_RUNNABLE, running_stack(thread),
		   wall_account_take(account, STATE_RUNNABLE));
	return 0;
}

/* What its CPU samples since the last scan stand for. */
static uint64_t has_run_ns(const struct wall_thread *thread)
{
	uint64_t weight = 0;

	for (const struct event *node = thread->cpu_samples; node; node = node->next)
		if (node->time_ns > thread->account.updated_ns)
			weight += node->sample.weight;
	return weight * thread->account.period_ns;
}

/* Its last schedstat if that can still be had; its last rest is of what it did last. */
void wall_thread_end(struct wall_thread *thread, const struct wall_scan *scan, int64_t *residual_ns)
{
	uint64_t run_ns = has_run_ns(thread);
	uint64_t weights[WALL_STATES];
	struct schedstat now = thread->account.seen;
	struct event *node = event_new(EVENT_KIND_GONE, scan->process, scan->now_ns, 0);

	(void)read_schedstat(thread, scan, &now);
	wall_account_update(&thread->account, scan->now_ns, &now);
	wall_account_release(&thread->account, thread->state);
	/* The scheduler writes running down at its ticks. */
	if (thread->runs || run_ns > 0)
		wall_account_run(&thread->account, run_ns + WALL_CLOCK_MS * NS_PER_MS);
	wall_account_end(&thread->account, thread->state, residual_ns, weights);
	give_running(thread, scan, weights[STATE_RUNNING]);
	weights[STATE_RUNNING] = 0;
	for (int state = 0; state < WALL_STATES; state++) {
		bool blocked = state != STATE_RUNNABLE;

		give_stack(thread, scan, (enum sample_state)state,
			   blocked ? &thread->blocked : running_stack(thread), weights[state]);
	}
	if (node) {
		node->thread.tid = thread->tid;
		push(scan, node);
	}
	while (thread->cpu_samples)
		drop_lent(thread);
	close_fd(&thread->schedstat_fd);
	close_at(thread, scan);
	release_stack(&thread->blocked);
	release_stack(&thread->ran);
	thread->ended = true;
	thread->ended_ns = scan->now_ns;
}
