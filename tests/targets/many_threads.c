/*
 * many_threads.c - many threads that wait, and some that are busy
 *
 * many_threads N BUSY SECONDS.  BUSY of the N threads work for about a tenth of a millisecond and
 * sleep for 10 ms, again and again; the others wait for a futex, sleep or poll, to the end.
 * Says "ready" when all have been started, and how many there are.
 */
#include "burn.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { STACK_BYTES = 64 * 1024 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

BURN_FUNCTION(burn_busy)

static void *busy(void *argument)
{
	for (;;) {
		burn_busy(50000);
		(void)usleep(10000);
	}
	return argument;
}

static void *idle(void *argument)
{
	size_t kind = (size_t)argument % 3;

	for (;;) {
		if (kind == 0)
			(void)sleep(3600);
		if (kind == 1)
			(void)poll(NULL, 0, 3600000);
		(void)pthread_mutex_lock(&mutex);
		(void)pthread_cond_wait(&cond, &mutex);
		(void)pthread_mutex_unlock(&mutex);
	}
	return argument;
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
	size_t n_busy = argc > 2 ? strtoul(argv[2], NULL, 10) : 5;
	unsigned seconds = argc > 3 ? (unsigned)atoi(argv[3]) : 5;
	pthread_attr_t attributes;
	pthread_t thread;
	size_t i;

	(void)pthread_attr_init(&attributes);
	(void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
	for (i = 0; i + 1 < n; i++)
		if (pthread_create(&thread, &attributes, i < n_busy ? busy : idle, (void *)i) != 0)
			break;
	printf("ready %zu\n", i + 1);
	(void)fflush(stdout);
	while (seconds > 0)
		seconds = sleep(seconds);
	return 0;
}
