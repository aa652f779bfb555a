/* clock.c - asks for the time, which is in the vdso: in its main thread and in another
 * usage: clock [SECONDS]     (of CPU time a thread; without, for ever) */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static double limit;

static __attribute__((noinline, noclone)) long ask(int times)
{
	struct timespec now = {0};
	long sum = 0;

	for (int i = 0; i < times; i++) {
		(void)clock_gettime(CLOCK_MONOTONIC, &now);
		sum += now.tv_nsec;
	}
	return sum;
}

static double cpu_seconds(void)
{
	struct timespec used;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

static void *run(void *unused)
{
	volatile long sum = 0;

	(void)unused;
	while (limit <= 0 || cpu_seconds() < limit)
		sum += ask(20000);
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
