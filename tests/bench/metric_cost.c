/*
 * metric_cost.c - what one reading of each metric costs, beside what the catalogue says of it
 *
 * Reads a process of 100 threads, 200 open files and 64 MiB as the drain thread does, but without
 * waiting until the last reading is old.  The least of some rounds: what else runs only adds.
 */
#include "base/units.h"
#include "sampler/collector/metrics/readings.h"
#include "sampler/include/wick.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BIT(metric) (UINT32_C(1) << (metric))

enum {
	ROUNDS = 150,
	READINGS = 100,
	THREADS = 99,
	FILES = 200,
	BYTES = 64 << 20,
	GAUGES = METRIC_MAX_GAUGES
};

static char names[WICK_SLOTS][WICK_NAME_BYTES];
static const char *gauges[GAUGES];
static struct sock_table sockets;

static uint64_t cpu_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void *wait_for_end(void *argument)
{
	(void)pause();
	return argument;
}

static void be_read(int ready)
{
	char *memory = malloc(BYTES);
	pthread_t thread;

	for (int i = 0; i < THREADS; i++)
		(void)pthread_create(&thread, NULL, wait_for_end, NULL);
	for (int i = 0; i < FILES; i++)
		(void)open("/dev/null", O_RDONLY);
	if (memory)
		memset(memory, 1, BYTES);
	(void)!write(ready, "r", 1);
	for (;;)
		(void)pause();
}

static pid_t start(void)
{
	int fds[2];
	char byte;
	pid_t pid = pipe(fds) < 0 ? -1 : fork();

	if (pid == 0)
		be_read(fds[1]);
	if (pid < 0 || read(fds[0], &byte, 1) != 1)
		return -1;
	return pid;
}

/* ns of one reading of everything that OPTIONS want, each as if the last were old. */
static double reading_ns(pid_t pid, const struct collector_options *options)
{
	double least = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		struct event_sample sample = {.tid = (uint32_t)pid};
		struct thread_readings thread = {0};
		struct readings readings;
		uint64_t now_ns;
		uint64_t begun;
		double each;

		readings_init(&readings, pid, options, &sockets);
		now_ns = readings.read_ns;
		begun = cpu_ns();
		for (int i = 0; i < READINGS; i++) {
			now_ns += READING_FRESH_MS * NS_PER_MS;
			sample.metrics[METRIC_RUN_DELAY_NS].value = 0;
			readings_fill(&readings, &thread, &sample, now_ns);
		}
		each = (double)(cpu_ns() - begun) / READINGS;
		least = each < least ? each : least;
		readings_thread_release(&thread);
		readings_release(&readings);
	}
	return least;
}

/* Resident memory is read before everything else of a process: it tells whether it ends. */
static double metric_ns(pid_t pid, size_t metric)
{
	struct collector_options with = {.metrics = BIT(metric) | BIT(METRIC_RSS_KIB)};
	struct collector_options without = {.metrics = BIT(METRIC_RSS_KIB)};

	if (metrics_facts()[metric].scope == SCOPE_THREAD)
		with.metrics = BIT(metric);
	if (metrics_facts()[metric].scope == SCOPE_THREAD || metric <= METRIC_RSS_FILE_KIB)
		without.metrics = 0;
	return reading_ns(pid, &with) - reading_ns(pid, &without);
}

static double gauges_ns(pid_t pid, size_t n)
{
	struct collector_options with = {
		.metrics = BIT(METRIC_RSS_KIB), .gauges = gauges, .n_gauges = n};
	struct collector_options without = {.metrics = BIT(METRIC_RSS_KIB)};

	return reading_ns(pid, &with) - reading_ns(pid, &without);
}

static double rusage_ns(void)
{
	double least = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begun = cpu_ns();
		struct rusage used;
		double each;

		for (int i = 0; i < READINGS; i++)
			(void)syscall(SYS_getrusage, RUSAGE_THREAD, &used);
		each = (double)(cpu_ns() - begun) / READINGS;
		least = each < least ? each : least;
	}
	return least;
}

static double set_ns(const char *name)
{
	double least = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begun = cpu_ns();
		double each;

		for (int i = 0; i < READINGS; i++)
			wick_gauge_set(name, i);
		each = (double)(cpu_ns() - begun) / READINGS;
		least = each < least ? each : least;
	}
	return least;
}

static void print_metrics(pid_t pid)
{
	const struct metric_fact *facts = metrics_facts();
	uint32_t chosen = metrics_auto();

	printf("  %-16s %9s %9s  %-4s  read from\n", "metric", "ns", "page says", "auto");
	for (size_t i = 0; i < METRIC_BUILTIN; i++) {
		double ns = 0;

		if (facts[i].scope == SCOPE_HOOKS)
			continue;
		if (facts[i].scope == SCOPE_RECORD)
			ns = i == METRIC_STACK_BYTES ? 0 : rusage_ns();
		else
			ns = metric_ns(pid, i);
		printf("  %-16s %9.0f %9u  %-4s  %s\n", metrics_columns()[i].name, ns,
		       facts[i].cost_ns, chosen >> i & 1 ? "yes" : "no", facts[i].source);
	}
}

int main(void)
{
	struct collector_options every = {.metrics = BIT(METRIC_BUILTIN) - 1};
	pid_t pid;

	sock_table_init(&sockets);
	for (int i = 0; i < WICK_SLOTS; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "a_queue_length_%d", i);
		if (i < GAUGES)
			gauges[i] = names[i];
		wick_gauge_set(names[i], i);
	}
	pid = start();
	if (pid < 0)
		return 1;
	print_metrics(pid);
	printf("  one reading of all of them: %.0f ns\n", reading_ns(pid, &every));
	printf("  gauges: 1: %.0f ns, %d: %.0f ns, in a full table\n", gauges_ns(pid, 1), GAUGES,
	       gauges_ns(pid, GAUGES));
	printf("  wick_gauge_set() in the program: first name %.1f ns, last of %d: %.1f ns\n",
	       set_ns(names[0]), WICK_SLOTS, set_ns(names[WICK_SLOTS - 1]));
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	return 0;
}
