/* busy.c - works for a while; built static, set-user-ID, under sanitizers and so on
 * usage: busy SECONDS */
#include "burn.h"

#include <stdio.h>
#include <stdlib.h>

BURN_FUNCTION(burn_busy)

int main(int argc, char **argv)
{
	char *text = malloc(16);

	while (thread_seconds() < (argc > 1 ? strtod(argv[1], NULL) : 0.5))
		burn_busy(100000);
	if (!text)
		return 1;
	(void)snprintf(text, 16, "busy no more");
	(void)puts(text);
	free(text);
	return 0;
}
