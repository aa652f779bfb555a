/*
 * vfork_works.c - children that work in their parent's memory before they end or become another
 *
 * vfork_works TURNS SECONDS.  TURNS children by vfork(), each working for SECONDS of CPU in
 * burn_child(), taking and giving back memory in take_child() and blocking and opening signals,
 * then half of them end and half of them become /bin/true; between two of them the parent works as
 * long in burn_parent().  Then as many by posix_spawn().  Says "PARENT CHILDREN", CPU seconds.
 */
#include "burn.h"

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

BURN_FUNCTION(burn_parent)
BURN_FUNCTION(burn_child)

static void *volatile taken;

__attribute__((noinline)) static void take_child(void)
{
	for (int i = 0; i < 50; i++) {
		taken = malloc(1 << 20);
		free(taken);
	}
}

static void work(double seconds, void (*burn)(uint64_t))
{
	double until = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) + seconds;

	while (clock_seconds(CLOCK_PROCESS_CPUTIME_ID) < until)
		burn(100000);
}

static void work_as_child(double seconds)
{
	sigset_t prof;
	sigset_t before;

	(void)sigemptyset(&prof);
	(void)sigaddset(&prof, SIGPROF);
	(void)sigprocmask(SIG_BLOCK, &prof, &before);
	work(seconds / 2, burn_child);
	take_child();
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	work(seconds / 2, burn_child);
}

static double children_seconds(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_CHILDREN, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

int main(int argc, char **argv)
{
	int turns = argc > 1 ? atoi(argv[1]) : 10;
	double seconds = argc > 2 ? atof(argv[2]) : 0.05;
	char name[] = "true";
	char *const words[] = {name, NULL};
	volatile int i; /* vfork() returns twice */
	pid_t pid;

	for (i = 0; i < turns; i++) {
		/* NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.vfork): what it does is the
		 * point */
		pid = vfork();
		if (pid == 0) {
			work_as_child(seconds);
			if (i % 2)
				(void)execv("/bin/true", words);
			_exit(0);
		}
		(void)waitpid(pid, NULL, 0);
		work(seconds, burn_parent);
	}
	for (i = 0; i < turns; i++) {
		if (posix_spawn(&pid, "/bin/true", NULL, NULL, words, environ) == 0)
			(void)waitpid(pid, NULL, 0);
		work(seconds, burn_parent);
	}
	printf("%.6f %.6f\n", clock_seconds(CLOCK_PROCESS_CPUTIME_ID), children_seconds());
	return 0;
}
