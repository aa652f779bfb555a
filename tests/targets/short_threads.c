/* short_threads.c - one thread after another that burns a few ms and ends; prints their CPU
 * usage: short_threads MILLISECONDS SECONDS */
#include "burn.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

BURN_FUNCTION(burn_short)

static double life;
static double total;

static void *run(void *argument)
{
	(void)argument;
	while (thread_seconds() < life)
		burn_short(2000);
	total += thread_seconds();
	return NULL;
}

int main(int argc, char **argv)
{
	double seconds = argc > 2 ? strtod(argv[2], NULL) : 1;

	life = (argc > 1 ? strtod(argv[1], NULL) : 2) / 1000;
	while (total < seconds) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, run, NULL))
			return 1;
		(void)pthread_join(thread, NULL);
	}
	printf("%.6f\n", total);
	return 0;
}
