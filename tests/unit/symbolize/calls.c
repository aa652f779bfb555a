/* calls.c - calls another object through every kind of stub that the linker makes */
#include <stdio.h>
#include <stdlib.h>

/* Called and its address taken: one slot of the GOT for both, and a stub in .plt.got. */
static int (*volatile taken)(const char *) = puts;

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 100)
		abort();
	return puts("x") + taken("y") < 0;
}
