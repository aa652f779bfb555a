/* thread_parts.c - threads that use different amounts of CPU at the same time, and end
 * usage: thread_parts N SECONDS   thread i uses SECONDS times 0.5 to 1.5; prints "TID CPU_SECONDS"
 * of each */
#include "burn.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

BURN_FUNCTION(burn_part)

enum { MOST = 1000, KINDS = 7, SLICE = 20000 };

struct part {
	pthread_t thread;
	double seconds;
	pid_t tid;
	double used;
};

static void *use(void *context)
{
	struct part *part = context;

	part->tid = gettid();
	while (thread_seconds() < part->seconds)
		burn_part(SLICE);
	part->used = thread_seconds();
	return NULL;
}

int main(int argc, char **argv)
{
	static struct part parts[MOST];
	int n = argc > 2 ? atoi(argv[1]) : 0;

	if (n < 1 || n > MOST)
		return 2;
	for (int i = 0; i < n; i++) {
		parts[i].seconds = atof(argv[2]) * (0.5 + (i % KINDS) / (KINDS - 1.0));
		if (pthread_create(&parts[i].thread, NULL, use, &parts[i]) != 0)
			return 1;
	}
	for (int i = 0; i < n; i++) {
		(void)pthread_join(parts[i].thread, NULL);
		(void)printf("%d %f\n", (int)parts[i].tid, parts[i].used);
	}
	return 0;
}
