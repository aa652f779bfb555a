/* gauge_lives.c - a gauge through fork, exec and the end of its memory
 * usage: gauge_lives SECONDS
 * "who" is 1 in the first program, 2 in its child and 3 in what the child becomes; "lent" is 5
 * as long as its memory is there, half of the first program's SECONDS of CPU. */
#include "sampler/include/wick.h"

#include "burn.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

BURN_FUNCTION(work)

static void burn_for(double seconds)
{
	double last = thread_seconds() + seconds;

	while (thread_seconds() < last)
		work(20000);
}

int main(int argc, char **argv)
{
	static volatile int64_t who;
	int64_t *lent;
	pid_t child;

	if (argc < 2)
		return 2;
	wick_gauge("who", &who);
	who = argc > 2 ? 3 : 1;
	lent = mmap(NULL, sizeof(*lent), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (lent == MAP_FAILED)
		return 1;
	*lent = 5;
	if (argc == 2)
		wick_gauge("lent", lent);
	burn_for(atof(argv[1]) / 2);
	if (argc > 2)
		return 0;
	(void)munmap(lent, sizeof(*lent));
	burn_for(atof(argv[1]) / 2);
	child = fork();
	if (child == 0) {
		who = 2;
		burn_for(atof(argv[1]));
		(void)execl("/proc/self/exe", argv[0], argv[1], "again", (char *)NULL);
		_exit(1);
	}
	return waitpid(child, NULL, 0) == child ? 0 : 1;
}
