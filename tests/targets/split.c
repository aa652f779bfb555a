/* split.c - burns 70 %, 20 % and 10 % of its time in three functions; prints the true shares
 * usage: split SECONDS [MORE [TURNS]]   MORE percent of the time are burn_ten's whatever comes;
 * with TURNS each of the three has its part in one go, and then the next, some three times a
 * second: what is found of each is hardly a matter of chance */
#include "burn.h"

#include <stdio.h>
#include <stdlib.h>

BURN_FUNCTION(burn_seventy)
BURN_FUNCTION(burn_twenty)
BURN_FUNCTION(burn_ten)

enum { SLICES = 20000, SLICE = 20000 };

/* Return: the function whose turn it is. */
static int turn(uint64_t slice)
{
	uint64_t tenth = slice % SLICES / (SLICES / 10);

	return tenth < 7 ? 0 : tenth < 9 ? 1 : 2;
}

static void burn_in_turns(double seconds, uint64_t *done)
{
	for (uint64_t slice = 0; slice % 200 != 0 || thread_seconds() < seconds; slice++) {
		int which = turn(slice);

		if (which == 0)
			burn_seventy(SLICE);
		else if (which == 1)
			burn_twenty(SLICE);
		else
			burn_ten(SLICE);
		done[which] += SLICE;
	}
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
	uint32_t more = argc > 2 ? (uint32_t)(strtod(argv[2], NULL) * 1000) : 0;
	uint64_t done[3] = {0};
	uint32_t state = 2463534242U;

	if (argc > 3)
		burn_in_turns(seconds, done);
	/* Slices of random length in random order: no beat with the kernel's tick. */
	while (thread_seconds() < seconds) {
		for (int slice = 0; slice < 200; slice++) {
			uint32_t pick = next_random(&state) % 10;
			uint64_t n = 5000 + next_random(&state) % 20000;

			if (more > 0 && next_random(&state) % 100000 < more)
				pick = 9;
			if (pick < 7) {
				burn_seventy(n);
				done[0] += n;
			} else if (pick < 9) {
				burn_twenty(n);
				done[1] += n;
			} else {
				burn_ten(n);
				done[2] += n;
			}
		}
	}
	for (int i = 0; i < 3; i++)
		printf("%.4f ", 100.0 * (double)done[i] / (double)(done[0] + done[1] + done[2]));
	printf("\n");
	return 0;
}
