/* leased.c - says when wick has it count by wick.h, and when no more, until its input ends */
#include "sampler/include/wick.h"

#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Whether a request that begins and ends now is counted. */
static int is_counted(void)
{
	struct wick_request request;
	uint64_t now;

	wick_request_begin(&request, "GET /");
	wick_request_end(&request);
	return wick_recording(&now) != 0;
}

int main(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	int was = -1;

	setlinebuf(stdout);
	while (poll(&input, 1, 10) == 0) {
		int counted = is_counted();

		if (counted != was)
			(void)printf("%s %.3f\n", counted ? "on" : "off", seconds());
		was = counted;
	}
	return 0;
}
