/* heavy_threads.c - many threads of which a few are heavy, others every few seconds
 * usage: heavy_threads THREADS HEAVY SECONDS_A_TURN TURNS
 *
 * The others wake up once a second and work for some microseconds.  For every turn a line is
 * printed: when it began (CLOCK_MONOTONIC, s), and the tids of those that are heavy in it. */
#include "burn.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_THREADS = 10000, STACK_BYTES = 64 * 1024, LIGHT_STEPS = 20000 };

BURN_FUNCTION(burn_heavy)
BURN_FUNCTION(burn_light)

static _Atomic int tids[MAX_THREADS];
static atomic_int n_ready;
static atomic_int turn = -1;
static atomic_bool over;
static int n_heavy;

static int is_heavy(int index)
{
	int now = atomic_load_explicit(&turn, memory_order_relaxed);

	return now >= 0 && index / n_heavy == now;
}

static void *work(void *argument)
{
	int index = (int)(intptr_t)argument;
	const struct timespec a_second = {.tv_sec = 1};
	char name[16];
	int now;

	(void)snprintf(name, sizeof(name), "crew-%d", index);
	(void)prctl(PR_SET_NAME, name);
	atomic_store(&tids[index], (int)syscall(SYS_gettid));
	atomic_fetch_add(&n_ready, 1);
	while (!atomic_load_explicit(&over, memory_order_relaxed)) {
		if (is_heavy(index)) {
			burn_heavy(20000);
			continue;
		}
		burn_light(LIGHT_STEPS);
		/* Its turn may have begun meanwhile.  Those whose turn is next look often, so that
		 * a turn begins for all at once. */
		now = atomic_load(&turn);
		if (index / n_heavy == now)
			continue;
		if (index / n_heavy == now + 1)
			(void)usleep(5000);
		else
			(void)nanosleep(&a_second, NULL);
	}
	return NULL;
}

static int start(int index)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int r;

	(void)pthread_attr_init(&attributes);
	(void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
	r = pthread_create(&thread, &attributes, work, (void *)(intptr_t)index);
	(void)pthread_attr_destroy(&attributes);
	if (r == 0)
		(void)pthread_detach(thread);
	return r;
}

int main(int argc, char **argv)
{
	int n_threads = argc > 4 ? atoi(argv[1]) : 0;
	double seconds = argc > 4 ? strtod(argv[3], NULL) : 0;
	int n_turns = argc > 4 ? atoi(argv[4]) : 0;

	n_heavy = argc > 4 ? atoi(argv[2]) : 0;
	if (n_heavy < 1 || n_threads > MAX_THREADS || n_turns * n_heavy > n_threads) {
		(void)fprintf(stderr, "usage: heavy_threads THREADS HEAVY SECONDS TURNS\n");
		return 2;
	}
	for (int i = 0; i < n_threads; i++)
		if (start(i) != 0)
			return 1;
	while (atomic_load(&n_ready) < n_threads)
		(void)usleep(1000);
	(void)usleep(1500000); /* all but those whose turn is next sleep for long by now */
	for (int i = 0; i < n_turns; i++) {
		atomic_store(&turn, i);
		printf("%.6f", clock_seconds(CLOCK_MONOTONIC));
		for (int j = i * n_heavy; j < (i + 1) * n_heavy; j++)
			printf(" %d", atomic_load(&tids[j]));
		printf("\n");
		(void)usleep((useconds_t)(seconds * 1e6));
	}
	atomic_store(&over, 1);
	return 0;
}
