/* attach_gap.c - looks at the clock without pause and writes every gap of more than 50 us:
 * "TIME_NS GAP_NS", until it is killed */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static uint64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int main(void)
{
	uint64_t last = now_ns();

	for (;;) {
		uint64_t now = now_ns();

		if (now - last > 50000) {
			printf("%" PRIu64 " %" PRIu64 "\n", last, now - last);
			(void)fflush(stdout);
			now = now_ns();
		}
		last = now;
	}
}
