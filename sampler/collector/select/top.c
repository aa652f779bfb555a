/* top.c - the heaviest threads of a recording, chosen anew every INTERVAL */
#include "sampler/collector/select/top.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/units.h"
#include "sampler/collector/metrics/readings.h"
#include "sampler/collector/process/process.h"
#include "sampler/procfs/proc_stat.h"
#include "sampler/procfs/task.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { TEXT_BYTES = 1024 };

static const char *file_of(enum collector_by by)
{
	return by == BY_FAULTS ? "stat" : by == BY_IO ? "io" : "schedstat";
}

/* The Nth word of a text, 1 for the first, as a number. */
static bool number_at(const char *text, unsigned n, uint64_t *ret_value)
{
	char *end;

	for (unsigned i = 1; i < n; i++) {
		text += strspn(text, " \n");
		text += strcspn(text, " \n");
	}
	*ret_value = strtoull(text, &end, 10);
	return end > text;
}

bool top_parse(const char *text, enum collector_by by, uint64_t *ret_value)
{
	struct proc_stat stat;
	uint64_t first = 0;
	uint64_t second = 0;
	int64_t read = 0;
	int64_t written = 0;
	bool both;

	switch (by) {
	case BY_FAULTS:
		both = proc_stat_parse(text, STAT_MAJFLT, &stat) == 0;
		if (both)
			first = stat.at[STAT_MINFLT] + stat.at[STAT_MAJFLT];
		break;
	case BY_IO:
		both = readings_parse_line(text, "read_bytes", &read) == 0 &&
		       readings_parse_line(text, "write_bytes", &written) == 0;
		first = (uint64_t)read;
		second = (uint64_t)written;
		break;
	case BY_RUN_DELAY:
		both = number_at(text, 2, &first);
		break;
	default:
		both = number_at(text, 1, &first);
		break;
	}
	if (both)
		*ret_value = first + second;
	return both;
}

bool top_read(const struct top_task *task, int *fd, struct top_use *ret_use)
{
	char text[TEXT_BYTES];
	char path[32];
	uint64_t value;

	if (io_read_text(*fd, text, sizeof(text)) <
	    0) { /* not open yet, or of a thread that had the number before */
		cleanup_fd(fd);
		(void)snprintf(path, sizeof(path), "%u/%s", task->tid, file_of(task->by));
		*fd = openat(task->tasks_fd, path, O_RDONLY | O_CLOEXEC);
		if (io_read_text(*fd, text, sizeof(text)) < 0)
			return false;
	}
	if (!top_parse(text, task->by, &value))
		return false;
	if (task->by == BY_RSS || task->by == BY_GAUGE)
		*ret_use = (struct top_use){.total = task->process_total, .cpu_ns = value};
	else
		*ret_use = (struct top_use){.total = value};
	return true;
}

uint64_t top_read_rss(pid_t pid)
{
	char text[TEXT_BYTES];
	char path[32];
	_cleanup_fd_ int fd = -1;
	uint64_t pages;

	(void)snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (io_read_text(fd, text, sizeof(text)) < 0 || !number_at(text, 2, &pages))
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}

enum {
	TOP_MAX_THREADS = 65536,
};

/*
 * The last part of an interval counts more than the rest.  With these two, a thread that takes
 * over from another is ahead of it after 0.07 of an interval; without them, after half.
 */
enum { TOP_LATE_PART = 8, TOP_RECENT = 64 };

enum {
	TOP_FIRST_MS = 250, /* between the first choice and the second */
};

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

/* ---- the heaviest */

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
	const struct ranked *a = *(struct ranked *const *)left;
	const struct ranked *b = *(struct ranked *const *)right;

	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	if (a->cpu_ns != b->cpu_ns)
		return a->cpu_ns > b->cpu_ns ? -1 : 1;
	return (a->key > b->key) - (a->key < b->key);
}

void top_rank(struct ranked **all, size_t n)
{
	if (n > 0)
		qsort(all, n, sizeof(struct ranked *), heavier);
}

/* ---- looking */

/* A process's, such as its memory: it may fall, and all threads have it in common. */
static bool goes_both_ways(const struct top *top)
{
	return top->options.by == BY_RSS || top->options.by == BY_GAUGE;
}

static struct top_thread *thread_of(struct top *top, uint64_t key)
{
	struct top_thread *thread = map_get(&top->threads, key);

	if (thread || map_count(&top->threads) >= TOP_MAX_THREADS)
		return thread;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->ranked.key = key;
	thread->fd = -1;
	if (map_put(&top->threads, key, thread) < 0) {
		free(thread);
		return NULL;
	}
	return thread;
}

static void scan_thread(struct top *top, const struct top_task *task)
{
	struct top_thread *thread = thread_of(top, key_of(task->process, task->tid));
	struct top_use use;

	if (!thread || !top_read(task, &thread->fd, &use))
		return;
	if (thread->fd >= top->most_fd) {
		(void)close(thread->fd);
		thread->fd = -1;
	}
	/* Of a process's number nothing is this thread's own growth yet. */
	if (!thread->ranked.scan && goes_both_ways(top))
		thread->ranked.at_round = thread->ranked.at_late = use.total;
	thread->ranked.scan = top->scan;
	thread->ranked.total = use.total;
	thread->ranked.cpu_ns = use.cpu_ns;
}

/* What all threads of a process have in common, for those kinds of weight that are a process's. */
static uint64_t process_total(const struct top *top, struct process *process, uint64_t now_ns)
{
	int64_t value;

	if (top->options.by == BY_RSS)
		return top_read_rss(process->pid);
	if (top->options.by != BY_GAUGE || top->options.gauge >= SAMPLE_MAX_METRICS)
		return 0;
	readings_refresh(&process->readings, now_ns);
	value = process->readings.values[top->options.gauge];
	return value < 0 ? 0 : (uint64_t)value;
}

static void scan_process(struct top *top, struct process *process, uint64_t now_ns)
{
	struct top_task task = {.process = process, .by = top->options.by};
	_cleanup_dir_ DIR *tasks = NULL;

	if (!process->alive || process->namespace_pid != process->pid ||
	    process->pid == top->own_pid)
		return;
	tasks = tasks_open(process->pid);
	if (!tasks)
		return;
	task.tasks_fd = dirfd(tasks);
	task.process_total = process_total(top, process, now_ns);
	while ((task.tid = tasks_next(tasks)))
		scan_thread(top, &task);
}

static void forget_gone(void *context, uint64_t key, void *value)
{
	struct top *top = context;
	struct top_thread *thread = value;

	if (thread->ranked.scan == top->scan)
		return;
	(void)map_remove(&top->threads, key);
	free_thread(thread);
}

static void scan_all(struct top *top, struct process *processes, uint64_t now_ns)
{
	top->scan++;
	top->most_fd = most_fd();
	for (struct process *process = processes; process; process = process->next)
		scan_process(top, process, now_ns);
}

static void begin_late(void *context, uint64_t key, void *value)
{
	struct ranked *ranked = value;

	(void)context;
	(void)key;
	ranked->at_late = ranked->total;
}

void rounds_begin_late(struct rounds *rounds, struct map *all)
{
	map_each(all, begin_late, NULL);
	rounds->late = true;
}

void rounds_plan(struct rounds *rounds, uint64_t interval_ns, uint64_t now_ns)
{
	rounds->pause_ns = rounds->pause_ns ? rounds->pause_ns * 2 : TOP_FIRST_MS * NS_PER_MS;
	if (rounds->pause_ns > interval_ns)
		rounds->pause_ns = interval_ns;
	rounds->round_ns = now_ns + rounds->pause_ns;
	rounds->late_ns = rounds->round_ns - rounds->pause_ns / TOP_LATE_PART;
	rounds->late = false;
}

/* ---- a round */

/* All threads in an array. */
struct ranking {
	struct ranked **threads; /* each begins a struct top_thread */
	size_t n;
	bool first; /* nothing is known of before: totals alone decide */
	bool falls; /* what is ranked by goes up and down */
};

static void add_to_ranking(void *context, uint64_t key, void *value)
{
	struct ranking *ranking = context;
	struct top_thread *thread = value;

	(void)key;
	if (ranking->first || (ranking->falls && thread->ranked.total < thread->ranked.at_round))
		thread->ranked.at_round = thread->ranked.total;
	if (ranking->first || (ranking->falls && thread->ranked.total < thread->ranked.at_late))
		thread->ranked.at_late = thread->ranked.total;
	thread->ranked.score =
		top_score(thread->ranked.total, thread->ranked.at_round, thread->ranked.at_late);
	thread->ranked.at_round = thread->ranked.at_late = thread->ranked.total;
	ranking->threads[ranking->n++] = &thread->ranked;
}

static void choose(struct top *top)
{
	struct ranking ranking = {.first = !top->ran, .falls = goes_both_ways(top)};
	size_t n_threads = map_count(&top->threads);

	ranking.threads = calloc(n_threads ? n_threads : 1, sizeof(struct ranked *));
	if (!ranking.threads)
		return; /* those that were chosen stay so */
	map_each(&top->threads, add_to_ranking, &ranking);
	top_rank(ranking.threads, ranking.n);
	top->n_chosen = ranking.n < top->options.n ? ranking.n : top->options.n;
	for (size_t i = 0; i < ranking.n; i++)
		((struct top_thread *)ranking.threads[i])->chosen = i < top->n_chosen;
	free(ranking.threads);
}

void top_scan(struct top *top, struct process *processes, uint64_t now_ns)
{
	if (top->options.n == 0)
		return;
	if (now_ns >= top->rounds.round_ns && processes) {
		scan_all(top, processes, now_ns);
		map_each(&top->threads, forget_gone, top);
		choose(top);
		top->ran = true;
		rounds_plan(&top->rounds, top->options.interval_ns, now_ns);
	} else if (top->ran && !top->rounds.late && now_ns >= top->rounds.late_ns) {
		scan_all(top, processes, now_ns);
		rounds_begin_late(&top->rounds, &top->threads);
	}
}

uint64_t top_due_ns(const struct top *top)
{
	if (top->options.n == 0 || !top->ran)
		return UINT64_MAX;
	return top->rounds.late ? top->rounds.round_ns : top->rounds.late_ns;
}

bool top_keeps(struct top *top, const struct process *process, uint32_t tid)
{
	struct top_thread *thread;

	if (process->namespace_pid != process->pid)
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
