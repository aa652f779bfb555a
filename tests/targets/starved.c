/*
 * starved.c - a thread that shares one processor with two that never rest
 *
 * starved SECONDS.  Says what part of its time it ran and what part it waited for the processor, by
 * its schedstat: "running PERCENT" and "runnable PERCENT".
 */
#include "burn.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_HOGS = 2 };

BURN_FUNCTION(burn_starved)
BURN_FUNCTION(burn_hog)

static pid_t start_hog(void)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		burn_hog(1000000);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	double end;
	double start;
	double run[2];
	double delay[2];
	pid_t hogs[N_HOGS];
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one) < 0)
		return 1;
	for (int i = 0; i < N_HOGS; i++)
		hogs[i] = start_hog();
	schedstat_seconds(&run[0], &delay[0]);
	start = clock_seconds(CLOCK_MONOTONIC);
	end = start + seconds;
	while (clock_seconds(CLOCK_MONOTONIC) < end)
		burn_starved(100000);
	schedstat_seconds(&run[1], &delay[1]);
	end = clock_seconds(CLOCK_MONOTONIC);
	for (int i = 0; i < N_HOGS; i++) {
		(void)kill(hogs[i], SIGKILL);
		(void)waitpid(hogs[i], NULL, 0);
	}
	printf("running %.3f\nrunnable %.3f\n", 100 * (run[1] - run[0]) / (end - start),
	       100 * (delay[1] - delay[0]) / (end - start));
	return 0;
}
