/* daemonize.c - calls daemon(3), works, and writes a file as its last act
 * usage: daemonize SECONDS FILE */
#include "burn.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

BURN_FUNCTION(burn_daemon)

int main(int argc, char **argv)
{
	FILE *file;

	if (argc < 3 || daemon(1, 0))
		return 1;
	while (thread_seconds() < strtod(argv[1], NULL))
		burn_daemon(100000);
	file = fopen(argv[2], "w");
	if (!file)
		return 1;
	(void)fprintf(file, "done\n");
	return fclose(file) ? 1 : 0;
}
