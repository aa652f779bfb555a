/* lock_storm.c - threads that fight for one mutex; prints how often they had it, and their CPU
 * usage: lock_storm THREADS HOLD-NS SECONDS */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_THREADS = 64 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t hold_ns;
static uint64_t n_turns; /* the mutex guards it */
static _Atomic int over;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void *run(void *unused)
{
	while (!atomic_load_explicit(&over, memory_order_relaxed)) {
		(void)pthread_mutex_lock(&mutex);
		n_turns++;
		for (uint64_t end = hold_ns ? now_ns(CLOCK_MONOTONIC) + hold_ns : 0;
		     end && now_ns(CLOCK_MONOTONIC) < end;)
			;
		(void)pthread_mutex_unlock(&mutex);
	}
	return unused;
}

int main(int argc, char **argv)
{
	int n = argc == 4 ? (int)strtol(argv[1], NULL, 10) : 0;
	pthread_t threads[MOST_THREADS];
	double seconds;
	struct timespec pause;

	if (n < 1 || n > MOST_THREADS) {
		fprintf(stderr, "usage: lock_storm THREADS HOLD-NS SECONDS\n");
		return 2;
	}
	hold_ns = strtoull(argv[2], NULL, 10);
	seconds = strtod(argv[3], NULL);
	pause.tv_sec = (time_t)seconds;
	pause.tv_nsec = (long)((seconds - (double)pause.tv_sec) * 1e9);
	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, run, NULL) != 0)
			return 1;
	(void)nanosleep(&pause, NULL);
	atomic_store(&over, 1);
	for (int i = 0; i < n; i++)
		(void)pthread_join(threads[i], NULL);
	printf("%llu turns %.3f CPU\n", (unsigned long long)n_turns,
	       (double)now_ns(CLOCK_PROCESS_CPUTIME_ID) * 1e-9);
	return 0;
}
