/* clock.c - asks for the time, which is in the vdso: in its main thread and in another
 * usage: clock [SECONDS]     (of CPU time a thread; without, for ever) */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static double limit;
static volatile int times = 20000; /* not a constant: ask() would be cloned under another name */
static volatile long sink;

static __attribute__((noinline)) long ask(int n)
{
	struct timespec now = {0};
	long sum = 0;

	for (int i = 0; i < n; i++) {
		(void)clock_gettime(CLOCK_MONOTONIC, &now);
		sum += now.tv_nsec;
	}
	return sum;
}

static __attribute__((noinline)) double cpu_seconds(void)
{
	struct timespec used;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

static void *run(void *unused)
{
	(void)unused;
	while (limit <= 0 || cpu_seconds() < limit)
		sink = sink + ask(times);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t other;

	limit = argc > 1 ? strtod(argv[1], NULL) : 0;
	if (pthread_create(&other, NULL, run, NULL))
		return 1;
	(void)run(NULL);
	return pthread_join(other, NULL);
}
