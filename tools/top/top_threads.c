/* top_threads.c - /proc/PID/task */
#include "tools/top/internal.h"

#include "base/buf.h"
#include "base/io.h"
#include "tools/cli/value.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STAT_BYTES = 4096, PATH_BYTES = 64 };

/* What a thread had used, and in which reading that was seen. */
struct used {
	uint64_t cpu_ns;
	uint64_t reading;
};

void top_threads_watch(struct top_threads *threads, pid_t pid)
{
	for (size_t i = 0; i < threads->n_pids; i++)
		if (threads->pids[i] == pid)
			return;
	if (pid > 0 && threads->n_pids < TOP_PROCESSES_READ)
		threads->pids[threads->n_pids++] = pid;
}

/* A name may hold blanks and parentheses: it ends at the last one. */
int top_threads_parse(const char *stat, struct top_thread *ret_thread)
{
	const char *open = strchr(stat, '(');
	const char *close = strrchr(stat, ')');
	struct top_thread thread = {.tid = (pid_t)strtol(stat, NULL, 10)};
	unsigned long long user, system;
	long hz = sysconf(_SC_CLK_TCK);
	size_t len;

	if (!open || !close || close < open || close[1] != ' ' || thread.tid <= 0 || hz <= 0)
		return -EINVAL;
	len = (size_t)(close - open - 1);
	len = len < sizeof(thread.comm) - 1 ? len : sizeof(thread.comm) - 1;
	memcpy(thread.comm, open + 1, len);
	/* NOLINTNEXTLINE(cert-err34-c): the kernel's numbers fit */
	if (sscanf(close + 2, "%c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &thread.state,
		   &user, &system) != 3)
		return -EINVAL;
	thread.cpu_ns = (user + system) * (1000000000U / (unsigned long long)hz);
	*ret_thread = thread;
	return 0;
}

static int read_text(const char *path, struct buf *text)
{
	int r = io_read_file(path, text, NULL);

	return r < 0 ? r : text->len > 0 ? 0 : -ENOENT;
}

/* schedstat counts ns, stat only ticks; not every kernel has it. */
static void read_cpu(struct buf *text, struct top_thread *thread)
{
	char path[PATH_BYTES];
	char *end;
	unsigned long long ns;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)thread->pid,
		       (int)thread->tid);
	if (read_text(path, text) < 0)
		return;
	ns = strtoull(buf_text(text), &end, 10);
	if (*end == ' ' && ns > 0)
		thread->cpu_ns = ns;
}

/* What it has used since the reading before, in percent of one CPU. */
static void compare(struct top_threads *threads, struct top_thread *thread, uint64_t past_ns)
{
	struct used *used = map_get(&threads->before, (uint64_t)thread->tid);

	if (!used) {
		used = calloc(1, sizeof(*used));
		if (!used || map_put(&threads->before, (uint64_t)thread->tid, used) < 0) {
			free(used);
			return;
		}
		used->cpu_ns = thread->cpu_ns;
	}
	if (used->reading + 1 == threads->readings && past_ns > 0 && thread->cpu_ns >= used->cpu_ns)
		thread->cpu_pct = 100.0 * (double)(thread->cpu_ns - used->cpu_ns) / (double)past_ns;
	*used = (struct used){thread->cpu_ns, threads->readings};
}

static void read_thread(struct top_threads *threads, pid_t pid, const char *tid, uint64_t past_ns)
{
	char path[PATH_BYTES];
	struct top_thread thread;
	struct buf text;
	pid_t number;

	if (value_pid(tid, &number) < 0 || threads->n >= TOP_THREADS_READ)
		return;
	buf_init(&text, STAT_BYTES);
	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)number);
	if (read_text(path, &text) == 0 && top_threads_parse(buf_text(&text), &thread) == 0) {
		thread.pid = pid;
		read_cpu(&text, &thread);
		compare(threads, &thread, past_ns);
		threads->at[threads->n++] = thread;
	}
	buf_release(&text);
}

/* Return: false: the process is gone. */
static bool read_process(struct top_threads *threads, pid_t pid, uint64_t past_ns)
{
	char path[PATH_BYTES];
	struct dirent *entry;
	DIR *folder;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	folder = opendir(path);
	if (!folder)
		return false;
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): a folder of our own */
	while ((entry = readdir(folder)))
		read_thread(threads, pid, entry->d_name, past_ns);
	(void)closedir(folder);
	return true;
}

/* A thread that was not in this reading has ended. */
static void sweep_one(void *context, uint64_t tid, void *value)
{
	struct top_threads *threads = context;
	struct used *used = value;

	if (used->reading == threads->readings)
		return;
	(void)map_remove(&threads->before, tid);
	free(used);
}

size_t top_threads_read(struct top_threads *threads, uint64_t now_ns)
{
	uint64_t past_ns = threads->read_ns ? now_ns - threads->read_ns : 0;
	size_t n_living = 0;

	if (!threads->at)
		threads->at = calloc(TOP_THREADS_READ, sizeof(*threads->at));
	threads->n = 0;
	if (!threads->at)
		return 0;
	threads->readings++;
	for (size_t i = 0; i < threads->n_pids; i++)
		if (read_process(threads, threads->pids[i], past_ns))
			threads->pids[n_living++] = threads->pids[i];
	threads->n_pids = n_living;
	threads->read_ns = now_ns;
	map_each(&threads->before, sweep_one, threads);
	return threads->n;
}

static void free_one(void *context, uint64_t tid, void *used)
{
	(void)context;
	(void)tid;
	free(used);
}

void top_threads_release(struct top_threads *threads)
{
	map_each(&threads->before, free_one, NULL);
	map_release(&threads->before);
	free(threads->at);
	*threads = (struct top_threads){0};
}
