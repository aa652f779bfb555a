/* ratio.c - four threads that use 1:2:3:4 parts of CPU; prints "TID SECONDS UNSEEN" for each:
 * what the kernel's ticks did not see of it at its end, and at most from one to the next
 * usage: ratio SECONDS (of the largest) */
#include "burn.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

BURN_FUNCTION(burn)

struct part {
	pthread_t thread;
	double goal;
	double used;
	double unseen;
	int tid;
	char name[16];
};

static void *run(void *argument)
{
	struct part *part = argument;
	struct ticks ticks = {0, 0, 0};

	part->tid = gettid();
	(void)pthread_setname_np(pthread_self(), part->name);
	while (thread_seconds() < part->goal) {
		burn(100000);
		(void)ticks_saw(&ticks);
	}
	part->used = thread_seconds();
	part->unseen = part->used - ticks.cpu_s + ticks.longest_s;
	return NULL;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
	struct part parts[4];

	for (int i = 0; i < 4; i++) {
		parts[i].goal = seconds * (i + 1) / 4;
		(void)snprintf(parts[i].name, sizeof(parts[i].name), "part_%c", 'a' + i);
		if (pthread_create(&parts[i].thread, NULL, run, &parts[i]))
			return 1;
	}
	for (int i = 0; i < 4; i++) {
		(void)pthread_join(parts[i].thread, NULL);
		printf("%d %.6f %.6f\n", parts[i].tid, parts[i].used, parts[i].unseen);
	}
	return 0;
}
