/* top.c - the heaviest threads of a recording, chosen anew every INTERVAL */
#include "sampler/collector/top.h"

#include "sampler/collector/limits.h"
#include "sampler/collector/process.h"
#include "sampler/collector/top_read.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/*
 * The last part of an interval counts more than the rest.  With these two, a thread that takes
 * over from another is ahead of it after 0.07 of an interval; without them, after half.
 */
enum { TOP_LATE_PART = 8, TOP_RECENT = 64 };

/* Of all descriptors that wick may have, the part that may be kept for this. */
enum { TOP_FD_PART = 2 };

static uint64_t key_of(const struct process *process, uint32_t tid)
{
	return (uint64_t)process->number << 32 | tid;
}

void top_init(struct top *top, const struct collector_top *options)
{
	*top = (struct top){.options = *options, .own_pid = getpid()};
}

/* Late: wick raises its limit on the way. */
static int most_fd(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 0;
	return limit.rlim_cur < INT32_MAX ? (int)limit.rlim_cur / TOP_FD_PART : INT32_MAX;
}

static void free_thread(struct top_thread *thread)
{
	if (thread->fd >= 0)
		(void)close(thread->fd);
	free(thread);
}

static void free_value(void *context, uint64_t key, void *value)
{
	(void)context;
	(void)key;
	free_thread(value);
}

void top_release(struct top *top)
{
	map_each(&top->threads, free_value, NULL);
	map_release(&top->threads);
}

/* ---- who is heaviest */

uint64_t top_score(uint64_t total, uint64_t at_round, uint64_t at_late)
{
	uint64_t all = total >= at_round ? total - at_round : total;
	uint64_t recent = total >= at_late ? total - at_late : total;

	if (recent > (UINT64_MAX - all) / TOP_RECENT)
		return UINT64_MAX;
	return all + recent * TOP_RECENT;
}

static int heavier(const void *left, const void *right)
{
	const struct top_thread *a = *(struct top_thread *const *)left;
	const struct top_thread *b = *(struct top_thread *const *)right;

	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	if (a->cpu_ns != b->cpu_ns)
		return a->cpu_ns > b->cpu_ns ? -1 : 1;
	return (a->key > b->key) - (a->key < b->key);
}

void top_rank(struct top_thread **threads, size_t n)
{
	if (n > 0)
		qsort(threads, n, sizeof(*threads), heavier);
}

/* ---- looking */

static struct top_thread *thread_of(struct top *top, uint64_t key)
{
	struct top_thread *thread = map_get(&top->threads, key);

	if (thread || map_count(&top->threads) >= TOP_MAX_THREADS)
		return thread;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->key = key;
	thread->fd = -1;
	if (map_put(&top->threads, key, thread) < 0) {
		free(thread);
		return NULL;
	}
	return thread;
}

static void look_at_thread(struct top *top, const struct top_task *task)
{
	struct top_thread *thread = thread_of(top, key_of(task->process, task->tid));
	struct top_use use;

	if (!thread || !top_read(task, &thread->fd, &use))
		return;
	if (thread->fd >= top->most_fd) {
		(void)close(thread->fd);
		thread->fd = -1;
	}
	thread->look = top->look;
	thread->total = use.total;
	thread->cpu_ns = use.cpu_ns;
}

static void look_at_process(struct top *top, const struct process *process)
{
	struct top_task task = {.process = process, .by = top->options.by};
	const struct dirent *entry;
	char path[64];
	DIR *tasks;

	if (!process->alive || process->inner_pid != process->pid || process->pid == top->own_pid)
		return;
	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)process->pid);
	tasks = opendir(path);
	if (!tasks)
		return;
	task.tasks_fd = dirfd(tasks);
	task.process_total = top_read_process(process->pid, top->options.by);
	/* This thread alone reads this stream of entries. */
	while ((entry = readdir(tasks))) { /* NOLINT(concurrency-mt-unsafe) */
		unsigned long tid = strtoul(entry->d_name, NULL, 10);

		if (tid == 0 || tid > INT32_MAX)
			continue;
		task.tid = (uint32_t)tid;
		look_at_thread(top, &task);
	}
	(void)closedir(tasks);
}

static void forget_gone(void *context, uint64_t key, void *value)
{
	struct top *top = context;
	struct top_thread *thread = value;

	if (thread->look == top->look)
		return;
	(void)map_remove(&top->threads, key);
	free_thread(thread);
}

static void look_at_all(struct top *top, const struct process *processes)
{
	top->look++;
	top->most_fd = most_fd();
	for (const struct process *process = processes; process; process = process->next)
		look_at_process(top, process);
}

static void begin_late(void *context, uint64_t key, void *value)
{
	struct top_thread *thread = value;

	(void)context;
	(void)key;
	thread->at_late = thread->total;
}

/* ---- a round */

/* All threads in an array. */
struct ranking {
	struct top_thread **threads;
	size_t n;
	bool first; /* nothing is known of before: totals alone decide */
};

static void add_to_ranking(void *context, uint64_t key, void *value)
{
	struct ranking *ranking = context;
	struct top_thread *thread = value;

	(void)key;
	if (ranking->first)
		thread->at_round = thread->at_late = thread->total;
	thread->score = top_score(thread->total, thread->at_round, thread->at_late);
	thread->at_round = thread->at_late = thread->total;
	ranking->threads[ranking->n++] = thread;
}

static void choose(struct top *top)
{
	struct ranking ranking = {.first = !top->ran};
	size_t n_threads = map_count(&top->threads);

	ranking.threads = calloc(n_threads ? n_threads : 1, sizeof(struct top_thread *));
	if (!ranking.threads)
		return; /* those that were chosen stay so */
	map_each(&top->threads, add_to_ranking, &ranking);
	top_rank(ranking.threads, ranking.n);
	top->n_chosen = ranking.n < top->options.n ? ranking.n : top->options.n;
	for (size_t i = 0; i < ranking.n; i++)
		ranking.threads[i]->chosen = i < top->n_chosen;
	free(ranking.threads);
}

void top_look(struct top *top, const struct process *processes, uint64_t now_ns)
{
	uint64_t interval_ns = top->options.interval_ns;

	if (top->options.n == 0)
		return;
	if (now_ns >= top->round_ns && processes) {
		look_at_all(top, processes);
		map_each(&top->threads, forget_gone, top);
		choose(top);
		top->ran = true;
		top->late = false;
		top->round_ns = now_ns + interval_ns;
		top->late_ns = top->round_ns - interval_ns / TOP_LATE_PART;
	} else if (top->ran && !top->late && now_ns >= top->late_ns) {
		look_at_all(top, processes);
		map_each(&top->threads, begin_late, NULL);
		top->late = true;
	}
}

bool top_keeps(struct top *top, const struct process *process, uint32_t tid)
{
	struct top_thread *thread;

	if (process->inner_pid != process->pid)
		return true;
	thread = map_get(&top->threads, key_of(process, tid));
	if (thread && thread->chosen)
		return true;
	if (top->n_chosen >= top->options.n)
		return false;
	thread = thread_of(top, key_of(process, tid));
	if (!thread)
		return false;
	thread->chosen = true;
	top->n_chosen++;
	return true;
}
