/* lock_pair.c - what the hooks add to taking and giving back a lock without contention
 * usage: lock_pair [--once] HOOKS-OBJECT PASS-THROUGH-OBJECT
 *
 * The three ways (nothing preloaded, a bare pass-through, the hooks) take turns; what is printed
 * is the median of the differences within a round, so that a slow machine is slow for all.
 * --once: one round instead of fifteen. */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	ROUNDS = 15,
	SLICES = 500, /* of a measurement, whose quickest counts: no other thread interfered */
	PAIRS = 2000,
	WAYS = 3,
};

static int n_rounds = ROUNDS;

static void *stay(void *unused)
{
	(void)pause();
	return unused;
}

struct locks {
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
	pthread_cond_t cond;
	sem_t sem;
};

/* libc's return codes are of no interest here: nothing fails without contention. */
static void mutex_pairs(struct locks *locks)
{
	for (int i = 0; i < PAIRS; i++) {
		(void)pthread_mutex_lock(&locks->mutex);
		(void)pthread_mutex_unlock(&locks->mutex);
	}
}

static void read_pairs(struct locks *locks)
{
	for (int i = 0; i < PAIRS; i++) {
		(void)pthread_rwlock_rdlock(&locks->rwlock);
		(void)pthread_rwlock_unlock(&locks->rwlock);
	}
}

static void write_pairs(struct locks *locks)
{
	for (int i = 0; i < PAIRS; i++) {
		(void)pthread_rwlock_wrlock(&locks->rwlock);
		(void)pthread_rwlock_unlock(&locks->rwlock);
	}
}

static void sem_pairs(struct locks *locks)
{
	for (int i = 0; i < PAIRS; i++) {
		(void)sem_post(&locks->sem);
		(void)sem_wait(&locks->sem);
	}
}

static void signals(struct locks *locks)
{
	for (int i = 0; i < PAIRS; i++)
		(void)pthread_cond_signal(&locks->cond);
}

/* In a program with one thread libc's mutex works without atomics: both are measured. */
static const struct kind {
	const char *name;
	void (*run)(struct locks *locks);
	int threaded;
} kinds[] = {
	{"mutex, one thread", mutex_pairs, 0}, {"mutex", mutex_pairs, 1},
	{"rwlock, reading", read_pairs, 1},    {"rwlock, writing", write_pairs, 1},
	{"semaphore", sem_pairs, 1},           {"condition, a signal", signals, 1},
};

enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static double slice_ns(const struct kind *kind, struct locks *locks)
{
	struct timespec begin;
	struct timespec end;

	(void)clock_gettime(CLOCK_MONOTONIC, &begin);
	kind->run(locks);
	(void)clock_gettime(CLOCK_MONOTONIC, &end);
	return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
	       PAIRS;
}

static double pair_ns(const struct kind *kind)
{
	struct locks locks = {
		.mutex = PTHREAD_MUTEX_INITIALIZER,
		.rwlock = PTHREAD_RWLOCK_INITIALIZER,
		.cond = PTHREAD_COND_INITIALIZER,
	};
	pthread_t thread;
	double least = -1;

	if (sem_init(&locks.sem, 0, 0) < 0 ||
	    (kind->threaded && pthread_create(&thread, NULL, stay, NULL) != 0))
		return -1;
	for (int i = 0; i < SLICES; i++) {
		double ns = slice_ns(kind, &locks);

		if (least < 0 || ns < least)
			least = ns;
	}
	return least;
}

/* One measurement in a program of its own.  Return: ns a pair; negative when it failed. */
static double measure(const char *self, const char *preload, size_t kind)
{
	double ns = -1;
	char number[2] = {(char)('0' + kind), '\0'};
	int ends[2];
	pid_t pid;

	if (pipe(ends) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		(void)dup2(ends[1], 1);
		if (preload)
			(void)setenv("LD_PRELOAD", preload, 1);
		(void)execl(self, self, "--child", number, NULL);
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
	qsort(values, (size_t)n_rounds, sizeof(*values), by_value);
	return values[n_rounds / 2];
}

static int compare(const char *self, const char *const preloads[WAYS], size_t kind)
{
	double alone[ROUNDS] = {0};
	double added[WAYS][ROUNDS] = {{0}};

	for (int i = 0; i < n_rounds; i++) {
		alone[i] = measure(self, preloads[0], kind);
		for (int way = 1; way < WAYS; way++) {
			double ns = measure(self, preloads[way], kind);

			if (ns < 0 || alone[i] < 0)
				return -1;
			added[way][i] = ns - alone[i];
		}
	}
	printf("%-20s %6.2f ns; a pass-through adds %5.2f, the hooks %5.2f\n", kinds[kind].name,
	       median(alone), median(added[1]), median(added[2]));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "--child") == 0) {
		double ns = pair_ns(&kinds[(size_t)(argv[2][0] - '0') % N_KINDS]);

		return write(1, &ns, sizeof(ns)) == sizeof(ns) ? 0 : 1;
	}
	if (argc == 4 && strcmp(argv[1], "--once") == 0) {
		n_rounds = 1;
		argc--;
		argv++;
	}
	/* The loader goes on without what it cannot find. */
	if (argc != 3 || access(argv[1], R_OK) < 0 || access(argv[2], R_OK) < 0) {
		fprintf(stderr, "usage: lock_pair [--once] HOOKS-OBJECT PASS-THROUGH-OBJECT\n");
		return 2;
	}

	const char *const preloads[WAYS] = {NULL, argv[2], argv[1]};

	for (size_t kind = 0; kind < N_KINDS; kind++) {
		if (compare("/proc/self/exe", preloads, kind) < 0) {
			fprintf(stderr, "lock_pair: a measurement failed\n");
			return 1;
		}
		(void)fflush(stdout);
	}
	return 0;
}
