/* mapped.c - N threads that work for a moment; prints what the process has mapped then, in KiB
 * usage: mapped THREADS SECONDS */
#include "burn.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

BURN_FUNCTION(burn_mapped)

static pthread_barrier_t barrier;
static double seconds;

static void *run(void *argument)
{
	(void)argument;
	while (thread_seconds() < seconds)
		burn_mapped(10000);
	(void)pthread_barrier_wait(&barrier);
	(void)pthread_barrier_wait(&barrier);
	return NULL;
}

static void print_status(void)
{
	char line[256];
	FILE *file = fopen("/proc/self/status", "r");

	while (file && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "VmSize:", 7) || !strncmp(line, "RssShmem:", 9))
			printf("%ld ", strtol(strchr(line, ':') + 1, NULL, 10));
	}
	printf("\n");
	if (file)
		(void)fclose(file);
}

int main(int argc, char **argv)
{
	unsigned int n = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 8;
	pthread_attr_t attributes;
	pthread_t thread;

	seconds = argc > 2 ? strtod(argv[2], NULL) : 0.05;
	(void)pthread_barrier_init(&barrier, NULL, n + 1);
	(void)pthread_attr_init(&attributes);
	(void)pthread_attr_setstacksize(&attributes, (size_t)64 * 1024);
	for (unsigned int i = 0; i < n; i++) {
		if (pthread_create(&thread, &attributes, run, NULL))
			return 1;
	}
	(void)pthread_barrier_wait(&barrier);
	print_status();
	(void)pthread_barrier_wait(&barrier);
	return 0;
}
