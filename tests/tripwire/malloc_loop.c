/* malloc_loop.c - lives in malloc: most signals land inside it
 * usage: malloc_loop SECONDS */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void)
{
	struct timespec at;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
	return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static void *run(void *limit)
{
	while (seconds() < *(double *)limit)
		for (unsigned int i = 0; i < 100000; i++) {
			void *volatile block = malloc(i % 4096 + 1);

			free(block);
		}
	return NULL;
}

int main(int argc, char **argv)
{
	double limit = argc > 1 ? strtod(argv[1], NULL) : 1;
	pthread_t other;

	if (pthread_create(&other, NULL, run, &limit))
		return 1;
	(void)run(&limit);
	return pthread_join(other, NULL);
}
