/*
 * fixed_work.c - the same work every time, some calls deep, and what it took
 *
 * usage: fixed_work UNITS [CPU]
 *
 * A unit is some 0.1 ms.  With CPU the program stays on that processor.  Prints the seconds of CPU
 * in user mode and in the kernel, of wall time, and of waiting for a processor.
 */
#include "tests/targets/burn.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { DEPTH = 20, UNIT = 100000 };

BURN_FUNCTION(burn_unit)

__attribute__((noinline, noclone)) static void work(unsigned long units, unsigned depth)
{
	if (depth > 0)
		work(units, depth - 1);
	else
		for (unsigned long i = 0; i < units; i++)
			burn_unit(UNIT);
	__asm__ volatile(""); /* the call above is not the last thing */
}

static double seconds(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec * 1e-6;
}

static double waited(void)
{
	FILE *file = fopen("/proc/thread-self/schedstat", "re");
	double ns = 0;

	if (!file || fscanf(file, "%*u %lf", &ns) != 1)
		exit(1);
	(void)fclose(file);
	return ns * 1e-9;
}

int main(int argc, char **argv)
{
	double start = clock_seconds(CLOCK_MONOTONIC);
	double before = waited();
	unsigned long units = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000;
	struct rusage used;
	cpu_set_t set;

	CPU_ZERO(&set);
	if (argc > 2)
		CPU_SET(strtoul(argv[2], NULL, 10), &set);
	if (argc > 2 && sched_setaffinity(0, sizeof(set), &set) < 0)
		return 1;
	work(units, DEPTH);
	(void)getrusage(RUSAGE_SELF, &used);
	printf("%.6f %.6f %.6f %.6f\n", seconds(&used.ru_utime), seconds(&used.ru_stime),
	       clock_seconds(CLOCK_MONOTONIC) - start, waited() - before);
	return 0;
}
