/* episode.c - little for a while, then much of one thing, then little again
 * usage: episode BEFORE DURING AFTER WHAT...; seconds, and of: cpu memory faults gauge threads
 * Its standard output says when the episode began and ended, CLOCK_MONOTONIC in seconds, and the
 * CPU that it had used by then. */
#include "sampler/include/wick.h"

#include "burn.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	MANY_BYTES = 128 << 20,
	FAULT_BYTES = 8 << 20,
	PAGE = 4096,
	STEP_US = 20000,
	QUIET_WORK = 5000000, /* a tenth of a step, or so */
	MOST_THREADS = 256,
};

BURN_FUNCTION(work)

static volatile int64_t queue_len;
static atomic_bool done;

static void *hog(void *argument)
{
	(void)argument;
	while (!atomic_load(&done))
		work(10000);
	return NULL;
}

static bool wants(char *const *argv, const char *word)
{
	for (; *argv; argv++)
		if (strcmp(*argv, word) == 0)
			return true;
	return false;
}

/* A little of CPU in every step, so that there are samples. */
static void quiet(double seconds)
{
	double end = clock_seconds(CLOCK_MONOTONIC) + seconds;

	while (clock_seconds(CLOCK_MONOTONIC) < end) {
		work(QUIET_WORK);
		(void)usleep(STEP_US);
	}
}

static char *take(size_t bytes)
{
	char *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(2);
	(void)madvise(memory, bytes, MADV_NOHUGEPAGE); /* a fault a page */
	for (size_t i = 0; i < bytes; i += PAGE)
		memory[i] = 1;
	return memory;
}

static void busy(double seconds, char *const *what)
{
	double end = clock_seconds(CLOCK_MONOTONIC) + seconds;
	bool cpu = wants(what, "cpu");
	char *memory = wants(what, "memory") ? take(MANY_BYTES) : NULL;

	queue_len = wants(what, "gauge") ? 500 : queue_len;
	while (clock_seconds(CLOCK_MONOTONIC) < end) {
		work(cpu ? 20000000 : QUIET_WORK);
		if (wants(what, "faults"))
			(void)munmap(take(FAULT_BYTES), FAULT_BYTES);
		if (!cpu)
			(void)usleep(STEP_US);
	}
	queue_len = 5;
	if (memory)
		(void)munmap(memory, MANY_BYTES);
}

static void say_when(void)
{
	(void)printf("%.6f %.6f\n", clock_seconds(CLOCK_MONOTONIC),
		     clock_seconds(CLOCK_PROCESS_CPUTIME_ID));
}

int main(int argc, char **argv)
{
	pthread_t threads[MOST_THREADS];
	long wanted = sysconf(_SC_NPROCESSORS_ONLN) * 3; /* so that they wait for each other */
	long n = 0;

	if (argc < 4)
		return 2;
	queue_len = 5;
	wick_gauge("queue_len", &queue_len);
	quiet(strtod(argv[1], NULL));
	say_when();
	for (; wants(argv + 4, "threads") && n < wanted && n < MOST_THREADS; n++)
		if (pthread_create(&threads[n], NULL, hog, NULL) != 0)
			return 2;
	busy(strtod(argv[2], NULL), argv + 4);
	atomic_store(&done, true);
	while (n > 0)
		(void)pthread_join(threads[--n], NULL);
	say_when();
	quiet(strtod(argv[3], NULL));
	return 0;
}
