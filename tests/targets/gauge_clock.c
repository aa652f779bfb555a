/* gauge_clock.c - programs with a gauge that tells the time, so that a reading tells its own
 * usage: gauge_clock PROCESSES THREADS BUSY SECONDS
 * Each of the PROCESSES has THREADS threads; BUSY of them never rest, the others do now and then.
 * The gauge "clock_us" is CLOCK_MONOTONIC, as young as the program gets to run. */
#include "sampler/include/wick.h"

#include "burn.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NAP_US = 5000, BURN = 20000, MOST_THREADS = 256 };

BURN_FUNCTION(work)

static _Atomic int64_t clock_us;
static double end;
static int n_busy;

/* A thread that was kept from running between both does not put the clock back. */
static void set_clock(void)
{
	int64_t now = (int64_t)(clock_seconds(CLOCK_MONOTONIC) * 1e6);
	int64_t seen = atomic_load(&clock_us);

	while (seen < now && !atomic_compare_exchange_weak(&clock_us, &seen, now))
		;
}

static void *live(void *argument)
{
	const bool *busy = argument;

	while (clock_seconds(CLOCK_MONOTONIC) < end) {
		set_clock();
		work(BURN);
		set_clock();
		if (!*busy)
			(void)usleep(NAP_US);
	}
	return NULL;
}

static void run(int n_threads)
{
	static bool busy[MOST_THREADS];
	pthread_t threads[MOST_THREADS];

	wick_gauge("clock_us", (const volatile int64_t *)&clock_us);
	set_clock();
	for (int i = 1; i < n_threads; i++) {
		busy[i] = i < n_busy;
		if (pthread_create(&threads[i], NULL, live, &busy[i]) != 0)
			_exit(1);
	}
	busy[0] = n_busy > 0;
	(void)live(&busy[0]);
	for (int i = 1; i < n_threads; i++)
		(void)pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	int n_threads;

	if (argc != 5)
		return 2;
	n_threads = atoi(argv[2]);
	n_busy = atoi(argv[3]);
	if (n_threads < 1 || n_threads > MOST_THREADS)
		return 2;
	end = clock_seconds(CLOCK_MONOTONIC) + atof(argv[4]);
	for (int i = 1; i < atoi(argv[1]); i++) {
		if (fork() == 0) {
			run(n_threads);
			_exit(0);
		}
	}
	run(n_threads);
	while (wait(NULL) > 0)
		;
	return 0;
}
