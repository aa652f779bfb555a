/* loops.c - event loops, one a thread, whose tasks know their own time
 * usage: loops THREADS ROUNDS [wall]
 * Each round a "parent" runs, creates a "child" and pauses; the child runs in two parts; then the
 * parent runs again and finishes.  Every tenth child is cancelled while it pauses, and every tenth
 * round has a "stillborn" that never runs.  Writes "NAME CALLS NS" a line for each kind: CPU time
 * of the thread, or wall time; then "delay NS": how long the threads waited for a CPU
 * (/proc/thread-self/schedstat). */
#include "burn.h"

#include <pthread.h>
#include <string.h>

#include <wick.h>

BURN_FUNCTION(burn_parent)
BURN_FUNCTION(burn_child)

enum { STEPS = 400000, MOST_THREADS = 64 };

struct loop {
	pthread_t thread;
	long rounds;
	uint64_t n_parents;
	uint64_t n_children;
	uint64_t n_stillborn;
	uint64_t parent_ns;
	uint64_t child_ns;
	uint64_t delay_ns;
};

static clockid_t task_clock = CLOCK_THREAD_CPUTIME_ID;

static uint64_t delay_ns(void)
{
	unsigned long long cpu = 0, delay = 0;
	FILE *file = fopen("/proc/thread-self/schedstat", "re");

	if (!file || fscanf(file, "%llu %llu", &cpu, &delay) != 2)
		exit(1);
	(void)fclose(file);
	return delay;
}

/* A part of a task; its time is added to SUM_NS. */
#define PART(task, sum_ns, work)                                                                   \
	do {                                                                                       \
		uint64_t began_ns = clock_ns(task_clock);                                          \
                                                                                                   \
		wick_task_run(task);                                                               \
		work;                                                                              \
		wick_task_suspend(task);                                                           \
		(sum_ns) += clock_ns(task_clock) - began_ns;                                       \
	} while (0)

static void run_round(struct loop *loop, long i)
{
	struct wick_task parent, child, stillborn;

	wick_task_create(&parent, "parent");
	PART(&parent, loop->parent_ns, {
		burn_parent(STEPS);
		wick_task_create(&child, "child");
		if (i % 10 == 0)
			wick_task_create(&stillborn, "stillborn");
	});
	PART(&child, loop->child_ns, burn_child(STEPS));
	if (i % 10 == 0) {
		wick_task_finish(&child, WICK_CANCELLED);
		wick_task_finish(&stillborn, WICK_CANCELLED);
		loop->n_stillborn++;
	} else {
		PART(&child, loop->child_ns, burn_child(STEPS));
		wick_task_finish(&child, i % 10 == 1 ? WICK_FAILED : WICK_COMPLETED);
	}
	loop->n_children++;
	PART(&parent, loop->parent_ns, burn_parent(STEPS));
	wick_task_finish(&parent, WICK_COMPLETED);
	loop->n_parents++;
}

static void *run_loop(void *argument)
{
	struct loop *loop = argument;
	const uint64_t before_ns = delay_ns();

	for (long i = 0; i < loop->rounds; i++)
		run_round(loop, i);
	loop->delay_ns = delay_ns() - before_ns;
	return NULL;
}

int main(int argc, char **argv)
{
	static struct loop loops[MOST_THREADS];
	struct loop sum;
	const int n = argc > 2 ? (int)strtol(argv[1], NULL, 10) : 1;

	memset(&sum, 0, sizeof(sum));
	if (n < 1 || n > MOST_THREADS)
		return 2;
	if (argc > 3)
		task_clock = CLOCK_MONOTONIC;
	for (int i = 0; i < n; i++) {
		loops[i].rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 100;
		if (pthread_create(&loops[i].thread, NULL, run_loop, &loops[i]) != 0)
			return 1;
	}
	for (int i = 0; i < n; i++) {
		(void)pthread_join(loops[i].thread, NULL);
		sum.n_parents += loops[i].n_parents;
		sum.n_children += loops[i].n_children;
		sum.n_stillborn += loops[i].n_stillborn;
		sum.parent_ns += loops[i].parent_ns;
		sum.child_ns += loops[i].child_ns;
		sum.delay_ns += loops[i].delay_ns;
	}
	(void)printf("parent %lu %lu\nchild %lu %lu\nstillborn %lu 0\ndelay %lu\n",
		     (unsigned long)sum.n_parents, (unsigned long)sum.parent_ns,
		     (unsigned long)sum.n_children, (unsigned long)sum.child_ns,
		     (unsigned long)sum.n_stillborn, (unsigned long)sum.delay_ns);
	return 0;
}
