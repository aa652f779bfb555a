/* loops.c - event loops, one a thread, whose tasks know their own time
 * usage: loops THREADS ROUNDS
 * Each round a "parent" runs, creates a "child" and pauses; the child runs in two parts; then the
 * parent runs again and finishes.  Every tenth child is cancelled while it pauses, and every tenth
 * round has a "stillborn" that never runs.  Writes "NAME CALLS WALL_NS CPU_NS BESIDE_NS" a line for
 * each kind: how long it ran, the CPU time that its thread had meanwhile, and what of WALL_NS was
 * while wick was told: more where the thread had to wait for a processor just then. */
#include "burn.h"

#include <pthread.h>
#include <string.h>

#include <wick.h>

BURN_FUNCTION(burn_parent)
BURN_FUNCTION(burn_child)

enum { STEPS = 400000, MOST_THREADS = 64 };

struct spent {
	uint64_t wall_ns;
	uint64_t cpu_ns;
	uint64_t beside_ns;
};

struct loop {
	pthread_t thread;
	long rounds;
	uint64_t n_parents;
	uint64_t n_children;
	uint64_t n_stillborn;
	struct spent parent;
	struct spent child;
};

/* A part of a task; its time is added to SPENT. */
#define PART(task, spent, work)                                                                    \
	do {                                                                                       \
		uint64_t began_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);                         \
		uint64_t began_ns = clock_ns(CLOCK_MONOTONIC), from_ns, to_ns, ended_ns;           \
                                                                                                   \
		wick_task_run(task);                                                               \
		from_ns = clock_ns(CLOCK_MONOTONIC);                                               \
		work;                                                                              \
		to_ns = clock_ns(CLOCK_MONOTONIC);                                                 \
		wick_task_suspend(task);                                                           \
		ended_ns = clock_ns(CLOCK_MONOTONIC);                                              \
		(spent).wall_ns += ended_ns - began_ns;                                            \
		(spent).beside_ns += from_ns - began_ns + ended_ns - to_ns;                        \
		(spent).cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_cpu_ns;                \
	} while (0)

static void run_round(struct loop *loop, long i)
{
	struct wick_task parent, child, stillborn;

	wick_task_create(&parent, "parent");
	PART(&parent, loop->parent, {
		burn_parent(STEPS);
		wick_task_create(&child, "child");
		if (i % 10 == 0)
			wick_task_create(&stillborn, "stillborn");
	});
	PART(&child, loop->child, burn_child(STEPS));
	if (i % 10 == 0) {
		wick_task_finish(&child, WICK_CANCELLED);
		wick_task_finish(&stillborn, WICK_CANCELLED);
		loop->n_stillborn++;
	} else {
		PART(&child, loop->child, burn_child(STEPS));
		wick_task_finish(&child, i % 10 == 1 ? WICK_FAILED : WICK_COMPLETED);
	}
	loop->n_children++;
	PART(&parent, loop->parent, burn_parent(STEPS));
	wick_task_finish(&parent, WICK_COMPLETED);
	loop->n_parents++;
}

static void *run_loop(void *argument)
{
	struct loop *loop = argument;

	for (long i = 0; i < loop->rounds; i++)
		run_round(loop, i);
	return NULL;
}

static void add(struct spent *sum, struct spent spent)
{
	sum->wall_ns += spent.wall_ns;
	sum->cpu_ns += spent.cpu_ns;
	sum->beside_ns += spent.beside_ns;
}

static void print(const char *name, uint64_t n, struct spent spent)
{
	(void)printf("%s %lu %lu %lu %lu\n", name, (unsigned long)n, (unsigned long)spent.wall_ns,
		     (unsigned long)spent.cpu_ns, (unsigned long)spent.beside_ns);
}

int main(int argc, char **argv)
{
	static struct loop loops[MOST_THREADS];
	const struct spent nothing = {0, 0, 0};
	struct loop sum;
	const int n = argc > 2 ? (int)strtol(argv[1], NULL, 10) : 1;

	memset(&sum, 0, sizeof(sum));
	if (n < 1 || n > MOST_THREADS)
		return 2;
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
		add(&sum.parent, loops[i].parent);
		add(&sum.child, loops[i].child);
	}
	print("parent", sum.n_parents, sum.parent);
	print("child", sum.n_children, sum.child);
	print("stillborn", sum.n_stillborn, nothing);
	return 0;
}
