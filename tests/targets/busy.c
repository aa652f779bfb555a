/* busy.c - works for a while; built static, set-user-ID, under sanitizers and so on
 * usage: busy SECONDS [LOG [IDLE]]; SECONDS of CPU since the process began, beside IDLE threads
 * that only wait.  To LOG a line is added: CPU of the process when main() began, and at the end,
 * ns. */
#include "burn.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { STACK_BYTES = 64 * 1024 };

BURN_FUNCTION(burn_busy)

static int add_line(const char *path, double began, double ended)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	char line[64];
	int n = snprintf(line, sizeof(line), "%" PRIu64 " %" PRIu64 "\n", (uint64_t)(began * 1e9),
			 (uint64_t)(ended * 1e9));

	return fd < 0 || write(fd, line, (size_t)n) != n ? 1 : close(fd);
}

static void *wait_always(void *argument)
{
	for (;;)
		(void)pause();
	return argument;
}

static int add_idle(unsigned long n)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int r = pthread_attr_init(&attributes);

	if (r == 0)
		r = pthread_attr_setstacksize(&attributes, STACK_BYTES);
	while (r == 0 && n-- > 0)
		r = pthread_create(&thread, &attributes, wait_always, NULL);
	return r;
}

int main(int argc, char **argv)
{
	double began = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
	char *text;

	if (argc > 3 && add_idle(strtoul(argv[3], NULL, 10)) != 0)
		return 1;
	while (thread_seconds() < (argc > 1 ? strtod(argv[1], NULL) : 0.5))
		burn_busy(100000);
	text = malloc(16);
	if (!text)
		return 1;
	(void)snprintf(text, 16, "busy no more");
	(void)puts(text);
	free(text);
	return argc > 2 ? add_line(argv[2], began, clock_seconds(CLOCK_PROCESS_CPUTIME_ID)) : 0;
}
