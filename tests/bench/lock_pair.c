/* lock_pair.c - what the hooks add to an uncontended pair of pthread_mutex_lock and unlock
 * usage: lock_pair HOOKS-OBJECT PASS-THROUGH-OBJECT
 *
 * The three ways (nothing preloaded, a bare pass-through, the hooks) take turns; what is printed
 * is the median of the differences within a round, so that a slow machine is slow for all. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	ROUNDS = 31,
	SLICES = 20, /* of a measurement, whose quickest counts: nobody was in its way */
	PAIRS = 50000,
	WAYS = 3,
};

static void *stay(void *unused)
{
	(void)pause();
	return unused;
}

static double slice_ns(pthread_mutex_t *mutex)
{
	struct timespec begin;
	struct timespec end;

	(void)clock_gettime(CLOCK_MONOTONIC, &begin);
	for (int i = 0; i < PAIRS; i++) {
		(void)pthread_mutex_lock(mutex);
		(void)pthread_mutex_unlock(mutex);
	}
	(void)clock_gettime(CLOCK_MONOTONIC, &end);
	return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
	       PAIRS;
}

/* In a program with one thread libc locks without atomics: both are measured. */
static double pair_ns(int threaded)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_t thread;
	double least = -1;

	if (threaded && pthread_create(&thread, NULL, stay, NULL) != 0)
		return -1;
	for (int i = 0; i < SLICES; i++) {
		double ns = slice_ns(&mutex);

		if (least < 0 || ns < least)
			least = ns;
	}
	return least;
}

/* One measurement in a program of its own.  Return: ns a pair; negative when it failed. */
static double measure(const char *self, const char *preload, const char *threaded)
{
	double ns = -1;
	int ends[2];
	pid_t pid;

	if (pipe(ends) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		(void)dup2(ends[1], 1);
		if (preload)
			(void)setenv("LD_PRELOAD", preload, 1);
		(void)execl(self, self, "--child", threaded, NULL);
		_exit(127);
	}
	(void)close(ends[1]);
	if (pid < 0 || read(ends[0], &ns, sizeof(ns)) != sizeof(ns))
		ns = -1;
	(void)close(ends[0]);
	(void)waitpid(pid, NULL, 0);
	return ns;
}

static int by_value(const void *a, const void *b)
{
	double left = *(const double *)a;
	double right = *(const double *)b;

	return (left > right) - (left < right);
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), by_value);
	return values[ROUNDS / 2];
}

static int compare(const char *self, const char *const preloads[WAYS], const char *threaded)
{
	double alone[ROUNDS];
	double added[WAYS][ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		alone[i] = measure(self, preloads[0], threaded);
		for (int way = 1; way < WAYS; way++) {
			double ns = measure(self, preloads[way], threaded);

			if (ns < 0 || alone[i] < 0)
				return -1;
			added[way][i] = ns - alone[i];
		}
	}
	printf("lock/unlock pair, %s: %.2f ns; a pass-through adds %.2f, the hooks %.2f\n",
	       threaded[0] == '1' ? "two threads" : "one thread", median(alone), median(added[1]),
	       median(added[2]));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "--child") == 0) {
		double ns = pair_ns(argv[2][0] == '1');

		return write(1, &ns, sizeof(ns)) == sizeof(ns) ? 0 : 1;
	}
	/* The loader goes on without what it cannot find. */
	if (argc != 3 || access(argv[1], R_OK) < 0 || access(argv[2], R_OK) < 0) {
		fprintf(stderr, "usage: lock_pair HOOKS-OBJECT PASS-THROUGH-OBJECT\n");
		return 2;
	}

	const char *const preloads[WAYS] = {NULL, argv[2], argv[1]};

	if (compare("/proc/self/exe", preloads, "0") < 0 ||
	    compare("/proc/self/exe", preloads, "1") < 0) {
		fprintf(stderr, "lock_pair: a measurement failed\n");
		return 1;
	}
	return 0;
}
