/*
 * waves.c - threads that come and go in waves, so that each takes the place of another
 *
 * waves WAVES N MILLISECONDS.  N threads a wave, each working for MILLISECONDS of CPU; half of them
 * are called "even" and work in burn_even(), the others "odd" and in burn_odd(), and who comes in
 * the place of an even one in the next wave is odd.  Says "EVEN ODD TIMERS OWN": CPU seconds of
 * either, how many POSIX timers the process has at the end (-1: the kernel does not tell), and
 * whether it could make one.
 */
#include "burn.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 256 };

BURN_FUNCTION(burn_even)
BURN_FUNCTION(burn_odd)

static double work_s;
static _Atomic uint64_t used_ns[2];

static void *live(void *argument)
{
	size_t odd = (size_t)argument;

	(void)pthread_setname_np(pthread_self(), odd ? "odd" : "even");
	while (thread_seconds() < work_s)
		(odd ? burn_odd : burn_even)(100000);
	atomic_fetch_add(&used_ns[odd], (uint64_t)(thread_seconds() * 1e9));
	return NULL;
}

static void wave(size_t number, size_t n)
{
	pthread_t threads[MOST];

	for (size_t i = 0; i < n; i++)
		/* NOLINTNEXTLINE(performance-no-int-to-ptr): a number for the thread */
		if (pthread_create(&threads[i], NULL, live, (void *)((i + number) % 2)) != 0)
			exit(1);
	for (size_t i = 0; i < n; i++)
		(void)pthread_join(threads[i], NULL);
}

static int count_timers(void)
{
	FILE *file = fopen("/proc/self/timers", "re");
	char line[128];
	int n = 0;

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file))
		n += strncmp(line, "ID:", 3) == 0;
	(void)fclose(file);
	return n;
}

static const char *can_make_one(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGURG};
	timer_t timer;

	return timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 ? "yes" : "no";
}

int main(int argc, char **argv)
{
	size_t waves = argc > 1 ? strtoul(argv[1], NULL, 10) : 5;
	size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 8;

	work_s = (argc > 3 ? atof(argv[3]) : 20) / 1000;
	for (size_t i = 0; i < waves && n <= MOST; i++)
		wave(i, n);
	printf("%.6f %.6f %d %s\n", (double)used_ns[0] / 1e9, (double)used_ns[1] / 1e9,
	       count_timers(), can_make_one());
	return 0;
}
