/*
 * crowd.c - many threads that are all busy now and then, none for long
 *
 * crowd N SECONDS LOAD.  N threads live to the end; each works a little and sleeps, so that all of
 * them together keep LOAD processors busy.  Every second one is called "even" and works in
 * burn_even(), the others are called "odd" and work in burn_odd().  Says "N EVEN ODD ALL": how many
 * there were, the CPU seconds of either kind, and those of the whole process.
 */
#include "burn.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { STACK_BYTES = 64 * 1024 };

#define WORK_S 0.0003

BURN_FUNCTION(burn_even)
BURN_FUNCTION(burn_odd)

static size_t n;
static double end;
static double pause_s;
static _Atomic uint64_t used_ns[2];
static pthread_barrier_t all_there;

/* Early or late by up to half, so that no two go in step. */
static void rest(uint32_t *random)
{
	double part = 0.5 + (double)(next_random(random) % 1000) / 1000;
	double seconds = pause_s * part;
	double left = end - clock_seconds(CLOCK_MONOTONIC);

	if (seconds > left)
		seconds = left;
	if (seconds > 0)
		(void)nanosleep(
			&(struct timespec){
				.tv_sec = (time_t)seconds,
				.tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)},
			NULL);
}

static void *live(void *argument)
{
	size_t index = (size_t)argument;
	uint32_t random = (uint32_t)index * 2654435761U | 1;
	void (*burn)(uint64_t) = index % 2 ? burn_odd : burn_even;

	(void)pthread_setname_np(pthread_self(), index % 2 ? "odd" : "even");
	(void)pthread_barrier_wait(&all_there);
	while (clock_seconds(CLOCK_MONOTONIC) < end) {
		double until = thread_seconds() + WORK_S;

		rest(&random);
		while (thread_seconds() < until)
			burn(10000);
	}
	atomic_fetch_add(&used_ns[index % 2], (uint64_t)(thread_seconds() * 1e9));
	(void)pthread_barrier_wait(&all_there);
	return NULL;
}

int main(int argc, char **argv)
{
	double seconds = argc > 2 ? atof(argv[2]) : 2;
	double load = argc > 3 ? atof(argv[3]) : 1;
	pthread_attr_t attributes;

	n = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
	pause_s = WORK_S * (double)n / load;
	(void)pthread_attr_init(&attributes);
	(void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
	(void)pthread_barrier_init(&all_there, NULL, (unsigned)n + 1);
	for (size_t i = 0; i < n; i++) {
		pthread_t thread;

		/* NOLINTNEXTLINE(performance-no-int-to-ptr): a number for the thread */
		if (pthread_create(&thread, &attributes, live, (void *)i) != 0)
			return 1;
	}
	end = clock_seconds(CLOCK_MONOTONIC) + seconds;
	(void)pthread_barrier_wait(&all_there);
	(void)pthread_barrier_wait(&all_there);
	printf("%zu %.6f %.6f %.6f\n", n, (double)used_ns[0] / 1e9, (double)used_ns[1] / 1e9,
	       clock_seconds(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
