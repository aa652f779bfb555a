/* own_sigprof.c - a program that profiles itself: a SIGPROF handler and ITIMER_PROF of its own;
 * prints what it sees of both
 * usage: own_sigprof SECONDS */
#include "burn.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

BURN_FUNCTION(burn_profiled)

static volatile sig_atomic_t n_own;
static volatile sig_atomic_t n_strange;

static void on_own(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (number == SIGPROF && info->si_code == SI_KERNEL)
		n_own++;
	else
		n_strange++;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
	struct sigaction action = {.sa_sigaction = on_own, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigaction old;
	struct itimerval every = {{0, 10000}, {0, 10000}};
	double wanted;

	(void)sigaction(SIGPROF, NULL, &old);
	printf("before: %s\n", old.sa_handler == SIG_DFL ? "default" : "other");
	(void)sigaction(SIGPROF, &action, NULL);
	(void)sigaction(SIGPROF, NULL, &old);
	printf("after: %s\n", old.sa_sigaction == on_own ? "own" : "other");
	wanted = -prof_seconds() * 100;
	(void)setitimer(ITIMER_PROF, &every, NULL);
	while (thread_seconds() < seconds)
		burn_profiled(100000);
	every = (struct itimerval){0};
	(void)setitimer(ITIMER_PROF, &every, NULL);
	wanted += prof_seconds() * 100;
	printf("own: %s\n", n_own > wanted - 3 && n_own < wanted + 3 ? "right" : "wrong");
	printf("strange: %d\n", (int)n_strange);
	(void)signal(SIGPROF, SIG_IGN);
	(void)raise(SIGPROF);
	printf("ignored: alive\n");
	return 0;
}
