/* ends.c - ends in a way of its own after some work
 * usage: ends exit|_exit|abort|segv|kill|term SECONDS */
#include "burn.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

BURN_FUNCTION(burn_to_the_end)

static int *volatile nowhere;

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "exit";
	double seconds = argc > 2 ? strtod(argv[2], NULL) : 0.2;

	while (thread_seconds() < seconds)
		burn_to_the_end(100000);
	(void)fputs("the end\n", stdout);
	(void)fflush(stdout);
	if (!strcmp(how, "_exit"))
		_exit(7);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "segv"))
		*nowhere = 1;
	if (!strcmp(how, "kill"))
		(void)raise(SIGKILL);
	if (!strcmp(how, "term"))
		(void)raise(SIGTERM);
	return 7;
}
