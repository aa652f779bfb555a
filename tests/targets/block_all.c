/* block_all.c - a single thread that blocks all signals and works
 * usage: block_all SECONDS */
#include "burn.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

BURN_FUNCTION(burn_blocked)

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
	sigset_t all;
	sigset_t seen;

	(void)sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, NULL);
	while (thread_seconds() < seconds)
		burn_blocked(100000);
	(void)sigprocmask(SIG_SETMASK, NULL, &seen);
	printf("%s\n", sigismember(&seen, SIGPROF) ? "blocked" : "open");
	return 0;
}
