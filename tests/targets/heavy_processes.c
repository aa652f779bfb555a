/* heavy_processes.c - many processes of which a few are heavy, others every few seconds
 * usage: heavy_processes PROCESSES HEAVY SECONDS_A_TURN TURNS [PERCENT]
 *
 * The others wake up once a second and work for some microseconds; the heavy use PERCENT of a
 * processor each (100).  For every turn a line is printed when it is over: when it began
 * (CLOCK_MONOTONIC, s), by how much the machine was late then at most (s), and of each that was
 * heavy the pid and what part of its PERCENT it was given (PID:PART). */
#include "burn.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { MAX_PROCESSES = 1000, LIGHT_STEPS = 20000, SLICE_US = 10000, STEP_US = 20000 };

BURN_FUNCTION(burn_heavy)
BURN_FUNCTION(burn_light)

/* What all of them share. */
static struct {
	_Atomic int n_ready;
	_Atomic int turn; /* one more than its number */
	_Atomic int over;
	int n_heavy;
	double percent;
	pid_t pids[MAX_PROCESSES];
	_Atomic double used_s[MAX_PROCESSES];
} * shared;

/* A slice: its part of work, and then none. */
static void be_heavy(void)
{
	double until = thread_seconds() + SLICE_US * 1e-6 * shared->percent / 100;

	while (thread_seconds() < until)
		burn_heavy(10000);
	if (shared->percent < 100)
		(void)usleep((useconds_t)(SLICE_US * (1 - shared->percent / 100)));
}

static void work(int index)
{
	const struct timespec a_second = {.tv_sec = 1};
	char name[16];

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)snprintf(name, sizeof(name), "crew-%d", index);
	(void)prctl(PR_SET_NAME, name);
	(void)atomic_fetch_add(&shared->n_ready, 1);
	while (!atomic_load(&shared->over)) {
		int turn = atomic_load(&shared->turn);

		if (turn > 0 && index / shared->n_heavy == turn - 1) {
			be_heavy();
			atomic_store(&shared->used_s[index], thread_seconds());
			continue;
		}
		burn_light(LIGHT_STEPS);
		/* Those whose turn is next look often, so that a turn begins for all at once. */
		if (index / shared->n_heavy == turn)
			(void)usleep(5000);
		else
			(void)nanosleep(&a_second, NULL);
	}
	_exit(0);
}

/* Return: by how much a short sleep was longer, at most. */
static double pass(double seconds)
{
	double end = clock_seconds(CLOCK_MONOTONIC) + seconds;
	double worst = 0;
	double now;

	while ((now = clock_seconds(CLOCK_MONOTONIC)) < end) {
		double late;

		(void)usleep(STEP_US);
		late = clock_seconds(CLOCK_MONOTONIC) - now - STEP_US * 1e-6;
		worst = late > worst ? late : worst;
	}
	return worst;
}

static void take_turn(int turn, double seconds)
{
	double began = clock_seconds(CLOCK_MONOTONIC);
	double late;

	/* Before its turn no process has used more than some milliseconds. */
	atomic_store(&shared->turn, turn + 1);
	late = pass(seconds);
	printf("%.6f %.6f", began, late);
	for (int i = turn * shared->n_heavy; i < (turn + 1) * shared->n_heavy; i++)
		printf(" %d:%.3f", (int)shared->pids[i],
		       atomic_load(&shared->used_s[i]) * 100 / (seconds * shared->percent));
	printf("\n");
	(void)fflush(stdout);
}

int main(int argc, char **argv)
{
	int n_processes = argc > 4 ? atoi(argv[1]) : 0;
	int n_heavy = argc > 4 ? atoi(argv[2]) : 0;
	double seconds = argc > 4 ? strtod(argv[3], NULL) : 0;
	int n_turns = argc > 4 ? atoi(argv[4]) : 0;

	if (n_heavy < 1 || n_processes > MAX_PROCESSES || n_turns * n_heavy > n_processes) {
		(void)fprintf(stderr,
			      "usage: heavy_processes PROCESSES HEAVY SECONDS TURNS [PERCENT]\n");
		return 2;
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return 1;
	shared->n_heavy = n_heavy;
	shared->percent = argc > 5 ? strtod(argv[5], NULL) : 100;
	for (int i = 0; i < n_processes; i++) {
		pid_t pid = fork();

		if (pid == 0)
			work(i);
		shared->pids[i] = pid;
	}
	while (atomic_load(&shared->n_ready) < n_processes)
		(void)usleep(1000);
	(void)pass(1.5); /* all but those whose turn is next sleep for long by now */
	for (int i = 0; i < n_turns; i++)
		take_turn(i, seconds);
	atomic_store(&shared->over, 1);
	return 0;
}
