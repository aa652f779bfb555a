/* plugins.c - loads, runs and unloads two libraries in turn; they often land at one address;
 * prints the true shares, what the kernel's ticks saw of them, and how often the address was the
 * same.  Turns are of random lengths, since equal ones may alias with the sampling.
 * usage: plugins SECONDS LIBRARY_A LIBRARY_B [MILLISECONDS a turn, on average] */
#include "burn.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	double used[2] = {0, 0};
	double seen[2] = {0, 0};
	struct ticks ticks = {0, 0, 0};
	void *last = NULL;
	uint32_t random = 42;
	double turn;
	int same = 0;
	int n = 0;

	if (argc < 4)
		return 2;
	turn = (argc > 4 ? strtod(argv[4], NULL) : 50) * 1e-3;
	for (; thread_seconds() < strtod(argv[1], NULL); n++) {
		void *library = dlopen(argv[2 + n % 2], RTLD_NOW);
		void (**burn)(uint64_t) = library ? dlsym(library, "plugin_burn") : NULL;
		double start = thread_seconds();
		double end = start + turn * (0.5 + next_random(&random) / 0x1p32);

		if (!burn)
			return 1;
		while (thread_seconds() < end) {
			(*burn)(1500000);
			seen[n % 2] += ticks_saw(&ticks);
		}
		used[n % 2] += thread_seconds() - start;
		same += (void *)*burn == last;
		last = (void *)*burn;
		(void)dlclose(library);
	}
	printf("%.4f %.4f %.4f %.4f same %d of %d\n", used[0], used[1], seen[0], seen[1], same, n);
	return 0;
}
