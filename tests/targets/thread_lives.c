/*
 * thread_lives.c - threads of known lives: some work, some sleep, some do both
 *
 * thread_lives TURNS N MILLISECONDS.  N threads a turn, each living between once and twice
 * MILLISECONDS.  Says how long each lived at least and at most, from the moment that it could have
 * run until it was about to end and until it was seen to have ended: "TID SECONDS SECONDS".
 */
#include "burn.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = 64 };

struct life {
	pthread_t thread;
	uint32_t seed;
	double seconds;
	double began;
	double lived;
	double gone; /* 0: not yet */
	pid_t tid;
};

BURN_FUNCTION(burn_life)

/* What it has run and waited for a processor, which is all of its life when it begins. */
static double lived_so_far(void)
{
	double run;
	double delay;

	schedstat_seconds(&run, &delay);
	return run + delay;
}

static void *live(void *argument)
{
	struct life *life = argument;
	double before = lived_so_far();
	double start = clock_seconds(CLOCK_MONOTONIC) - before;
	uint32_t kind = next_random(&life->seed) % 3;

	life->tid = (pid_t)syscall(SYS_gettid);
	life->began = start;
	while (clock_seconds(CLOCK_MONOTONIC) - start < life->seconds) {
		if (kind == 0)
			(void)usleep((useconds_t)(life->seconds * 1e6 / 1.5));
		if (kind == 1)
			(void)usleep(1000 + next_random(&life->seed) % 30000);
		if (kind != 0)
			burn_life(next_random(&life->seed) % 1000000);
	}
	life->lived = clock_seconds(CLOCK_MONOTONIC) - start;
	return NULL;
}

/* Looks so often that a millisecond is all that is not known. */
static void join_all(struct life *lives, int n)
{
	for (int left = n; left > 0;) {
		(void)usleep(1000);
		for (int i = 0; i < n; i++) {
			if (lives[i].gone > 0 || pthread_tryjoin_np(lives[i].thread, NULL) != 0)
				continue;
			lives[i].gone = clock_seconds(CLOCK_MONOTONIC);
			left--;
		}
	}
}

int main(int argc, char **argv)
{
	int turns = argc > 1 ? atoi(argv[1]) : 1;
	int n = argc > 2 ? atoi(argv[2]) : 8;
	double seconds = (argc > 3 ? atof(argv[3]) : 1000) / 1000;
	struct life lives[MOST];
	uint32_t seed = 4711;

	if (n < 1 || n > MOST)
		return 2;

	for (int turn = 0; turn < turns; turn++) {
		memset(lives, 0, sizeof(lives));
		for (int i = 0; i < n; i++) {
			lives[i].seed = next_random(&seed);
			lives[i].seconds = seconds * (1 + next_random(&seed) % 1000 / 1000.0);
			if (pthread_create(&lives[i].thread, NULL, live, &lives[i]) != 0)
				return 1;
		}
		join_all(lives, n);
		for (int i = 0; i < n; i++)
			printf("%d %.6f %.6f\n", lives[i].tid, lives[i].lived,
			       lives[i].gone - lives[i].began);
	}
	return 0;
}
