/*
 * wall_scan.c - the cost of reading a thread that has not run since the last scan
 *
 * wall_scan MANY_THREADS.  Starts it with 1,000 and with 10,000 threads that wait, and looks at
 * them as the drain thread does, without ever being late; CPU time of the looks, by their number,
 * and beside it that of reading every schedstat and nothing else.
 */
#include "base/units.h"
#include "sampler/collector/process/process.h"
#include "sampler/collector/process/wall.h"
#include "sampler/collector/stream/stream.h"
#include "sampler/procfs/task.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_TICKS = 20, TICKS = 200, QUEUE_BYTES = 256 << 20, MOST = 10000, ROUNDS = 20 };

static uint64_t cpu_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static pid_t start(const char *program, const char *n)
{
	char text[64] = "";
	int fds[2];
	pid_t pid;

	if (pipe(fds) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		(void)dup2(fds[1], STDOUT_FILENO);
		(void)execl(program, program, n, "0", "600", (char *)NULL);
		_exit(1);
	}
	(void)close(fds[1]);
	if (read(fds[0], text, sizeof(text) - 1) <= 0)
		return -1;
	(void)close(fds[0]);
	(void)usleep(500000); /* the last of them have just begun */
	printf("  %s", text);
	return pid;
}

/* Looks come in no order either: one that is the kernel's own spares it cache misses. */
static void shuffle(int *fds, size_t n)
{
	uint64_t random = 1;

	for (size_t i = n; i > 1; i--) {
		int fd = fds[i - 1];
		size_t other;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		other = random % i;
		fds[i - 1] = fds[other];
		fds[other] = fd;
	}
}

/* The least that a reading can cost here and now. */
static void measure_reads(pid_t pid)
{
	static int fds[MOST];
	const struct dirent *entry;
	struct schedstat schedstat;
	uint64_t before;
	char path[64];
	size_t n = 0;
	DIR *tasks;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && n < MOST && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.' &&
		    (fds[n] = task_open(dirfd(tasks), (uint32_t)atol(entry->d_name),
					"schedstat")) >= 0)
			(void)task_read_schedstat(fds[n++], &schedstat);
	shuffle(fds, n);
	before = cpu_ns();
	for (size_t i = 0; i < n * ROUNDS; i++)
		(void)task_read_schedstat(fds[i % n], &schedstat);
	printf("  %.2f us to read a schedstat\n",
	       (double)(cpu_ns() - before) / (double)(n * ROUNDS) / 1000);
	while (n > 0)
		(void)close(fds[--n]);
	(void)closedir(tasks);
}

static void forget_samples(struct stream *stream)
{
	struct event *node;

	stream_flush(stream, UINT64_MAX);
	while ((node = queue_take(stream->order.queue, 0)))
		queue_forget(stream->order.queue, node);
}

/* Looks are spread over more and more ticks: the time between them is not waited for. */
static int measure(struct process *process, struct stream *stream)
{
	struct wall_turn turn = {
		.sink = &stream->order, .deadline_ns = UINT64_MAX, .most_ticks = 64};
	uint64_t looks = 0;
	uint64_t samples = 0;
	uint64_t spent = 0;

	if (wall_new(&process->wall, process, &turn) < 0)
		return 1;
	for (turn.tick = 1; turn.tick <= FIRST_TICKS + TICKS; turn.tick++) {
		uint64_t before = stream->order.stats->thread_reads;
		uint64_t cpu = cpu_ns();

		wall_pass(process->wall, process, &turn);
		if (turn.tick <= FIRST_TICKS) {
			samples = stream->order.stats->samples;
		} else {
			spent += cpu_ns() - cpu;
			looks += stream->order.stats->thread_reads - before;
		}
		forget_samples(stream);
	}
	printf("  %.2f us a reading, of %llu readings that gave %llu samples\n",
	       (double)spent / (double)looks / 1000, (unsigned long long)looks,
	       (unsigned long long)(stream->order.stats->samples - samples));
	return 0;
}

/* A look gives a sample where a period has passed: HZ says how many of them do. */
static int look_at(pid_t pid, uint32_t hz)
{
	const struct collector_options options = {.hz = hz, .events = COLLECT_WALL};
	struct collector_stats stats = {0};
	struct queue queue;
	struct stream stream = {.order = {.queue = &queue, .stats = &stats}};
	struct process *process;
	int r = 1;

	if (queue_init(&queue, QUEUE_BYTES) < 0)
		return 1;
	if (process_new(&process, 1, pid, &options, NULL) == 0) {
		r = measure(process, &stream);
		process_free(process);
	}
	event_order_release(&stream.order);
	queue_release(&queue);
	return r;
}

static int run(const char *program, const char *n)
{
	pid_t pid = start(program, n);
	int r;

	if (pid < 0)
		return 1;
	measure_reads(pid);
	r = look_at(pid, 1) || look_at(pid, 100);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	return r;
}

int main(int argc, char **argv)
{
	struct rlimit limit;

	(void)getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	if (argc < 2)
		return 2;
	return run(argv[1], "1000") || run(argv[1], "10000");
}
