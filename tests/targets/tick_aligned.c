/* tick_aligned.c - 1 ms of work every 4 ms at a fixed phase of the kernel's tick
 * usage: tick_aligned PHASE_US SECONDS */
#include "burn.h"

#include <stdio.h>
#include <stdlib.h>

BURN_FUNCTION(burn_in_step)

int main(int argc, char **argv)
{
	long start_offset_ns = argc > 1 ? strtol(argv[1], NULL, 10) * 1000 : 0;
	double seconds = argc > 2 ? strtod(argv[2], NULL) : 2;
	struct timespec tick;
	struct timespec next;

	(void)clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	(void)clock_gettime(CLOCK_MONOTONIC_COARSE, &next);
	next.tv_nsec += start_offset_ns;
	for (double end = clock_seconds(CLOCK_MONOTONIC) + seconds;
	     clock_seconds(CLOCK_MONOTONIC) < end;) {
		double stop;

		next.tv_nsec += tick.tv_nsec;
		while (next.tv_nsec >= 1000000000) {
			next.tv_nsec -= 1000000000;
			next.tv_sec++;
		}
		(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		stop = clock_seconds(CLOCK_MONOTONIC) + (double)tick.tv_nsec * 0.25e-9;
		while (clock_seconds(CLOCK_MONOTONIC) < stop)
			burn_in_step(10000);
	}
	printf("%.6f\n", thread_seconds());
	return 0;
}
