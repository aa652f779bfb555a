/* engine_list.c - the threads of a process that is sampled externally */
#include "base/cleanup.h"
#include "base/units.h"
#include "sampler/collector/event/event.h"
#include "sampler/collector/external/engine_internal.h"
#include "sampler/collector/process/process.h"
#include "sampler/collector/process/process_event.h"
#include "sampler/procfs/task.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	ENGINE_MOST_THREADS = 4096, /* of one process; each needs two descriptors */
	ENGINE_LIST_MS = 1000,      /* between two lists of them while their number stays */
	ENGINE_NAME_MS = 1000,
	TASK_LINKS = 2, /* the links of /proc/PID/task beyond one a thread */
};

/* The kernel lists them in the order that we have them in: it is nearly always at *AT. */
static struct engine_thread *find(const struct engine *engine, uint32_t tid, size_t *at)
{
	for (size_t i = 0; i < engine->n_threads; i++) {
		size_t place = (*at + i) % engine->n_threads;

		if (engine->threads[place].tid == tid) {
			*at = place + 1;
			return &engine->threads[place];
		}
	}
	return NULL;
}

static struct engine_thread *make_room(struct engine *engine)
{
	struct engine_thread *threads = engine->threads;

	if (engine->n_threads == ENGINE_MOST_THREADS)
		return NULL;
	if (engine->n_threads == engine->size) {
		size_t size = engine->size ? engine->size * 2 : 16;

		threads = realloc(threads, size * sizeof(*threads));
		if (!threads)
			return NULL;
		engine->threads = threads;
		engine->size = size;
	}
	return &threads[engine->n_threads];
}

static void push_name(const struct engine *engine, const struct external_turn *turn,
		      struct engine_thread *thread)
{
	struct event *node = event_new(EVENT_KIND_THREAD, turn->process, turn->now_ns, 0);

	thread->comm_ns = turn->now_ns + ENGINE_NAME_MS * NS_PER_MS;
	if (!node)
		return;
	node->thread.tid = thread->tid;
	if (task_read_comm(engine->tasks_fd, thread->tid, node->thread.comm) < 0) {
		free(node);
		return;
	}
	if (turn->now_ns > turn->process->latest_ns)
		turn->process->latest_ns = turn->now_ns;
	event_order_push(turn->sink, node);
}

uint64_t engine_calls_ns(const struct task_stat *stat)
{
	long per_s = sysconf(_SC_CLK_TCK);

	return stat->system_ticks * (NS_PER_S / (uint64_t)(per_s > 0 ? per_s : 100));
}

/* What threads of the first list had used is of before; for later ones all of it is residual. */
static void add(struct engine *engine, const struct external_turn *turn, uint32_t tid)
{
	struct engine_thread *thread = make_room(engine);
	struct task_stat stat = {0};

	if (!thread)
		return;
	*thread = (struct engine_thread){.tid = tid, .listed = engine->list, .ran = true};
	thread->schedstat_fd = task_open(engine->tasks_fd, tid, "schedstat");
	thread->syscall_fd = task_open(engine->tasks_fd, tid, "syscall");
	if (thread->schedstat_fd < 0 || thread->syscall_fd < 0 ||
	    task_read_schedstat(thread->schedstat_fd, &thread->seen) < 0) {
		cleanup_fd(&thread->schedstat_fd);
		cleanup_fd(&thread->syscall_fd);
		return;
	}
	if (engine->list > 1) {
		thread->residual_ns = thread->seen.run_ns;
		engine->residual_ns += thread->seen.run_ns;
	}
	(void)task_read_stat(engine->tasks_fd, tid, &stat);
	thread->start_ns = engine_calls_ns(&stat);
	thread->cpu = stat.cpu;
	engine->n_threads++;
	push_name(engine, turn, thread);
}

static void drop(struct engine *engine, const struct external_turn *turn, size_t i)
{
	struct engine_thread *thread = &engine->threads[i];
	struct event *node = event_new(EVENT_KIND_GONE, turn->process, turn->now_ns, 0);

	cleanup_fd(&thread->schedstat_fd);
	cleanup_fd(&thread->syscall_fd);
	engine_settle(engine, turn, thread, 0);
	free(thread->last);
	if (node) {
		node->thread.tid = thread->tid;
		event_order_push(turn->sink, node);
	}
	turn->sink->stats->external_stopped_ns += thread->rest.held_ns;
	engine->n_threads--;
	memmove(thread, thread + 1, (engine->n_threads - i) * sizeof(*thread));
}

static void read_list(struct engine *engine, const struct external_turn *turn, DIR *tasks)
{
	size_t at = 0;
	uint32_t tid;

	engine->list++;
	while ((tid = tasks_next(tasks))) {
		struct engine_thread *thread = find(engine, tid, &at);

		if (!thread)
			add(engine, turn, tid);
		else
			thread->listed = engine->list;
	}
	for (size_t i = engine->n_threads; i-- > 0;) {
		if (engine->threads[i].listed != engine->list)
			drop(engine, turn, i);
		else if (turn->now_ns >= engine->threads[i].comm_ns)
			push_name(engine, turn, &engine->threads[i]);
	}
}

void engine_list(struct engine *engine, const struct external_turn *turn)
{
	_cleanup_dir_ DIR *tasks = NULL;
	struct stat st;

	/* The kernel counts a process's threads as links of their directory. */
	if (fstat(engine->tasks_fd, &st) == 0 && st.st_nlink == engine->n_threads + TASK_LINKS &&
	    turn->now_ns - engine->listed_ns < ENGINE_LIST_MS * NS_PER_MS)
		return;
	tasks = tasks_open(turn->process->pid);
	if (!tasks)
		return;
	engine->listed_ns = turn->now_ns;
	read_list(engine, turn, tasks);
}

void engine_forget(struct engine *engine)
{
	for (size_t i = 0; i < engine->n_threads; i++) {
		cleanup_fd(&engine->threads[i].schedstat_fd);
		cleanup_fd(&engine->threads[i].syscall_fd);
		free(engine->threads[i].last);
	}
	free(engine->threads);
	engine->threads = NULL;
	engine->n_threads = 0;
}
