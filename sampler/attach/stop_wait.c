/* stop_wait.c - polls for a short time until another thread stops, as long as it has a processor of
 * its own */
#include "sampler/attach/stop_wait.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MAX_NS = 500000,
	CPU_CHECK_NS = 40000, /* waking its processor takes about as long */
	STAT_BYTES = 1024,
	CPU_FIELD = 37, /* fields of its stat file after the name */
};

void stop_wait_open(struct stop_wait *ret_wait, pid_t pid, pid_t tid)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	*ret_wait = (struct stop_wait){.stat_fd = open(path, O_RDONLY | O_CLOEXEC)};
}

void stop_wait_close(struct stop_wait *wait)
{
	cleanup_fd(&wait->stat_fd);
	wait->stat_fd = -1;
}

void stop_wait_begin(struct stop_wait *wait)
{
	wait->begun_ns = io_now_ns();
	wait->checked_ns = wait->begun_ns;
}

/* Return:  the processor that it runs on or waits for; -1: unknown. */
static int find_cpu(int stat_fd)
{
	char text[STAT_BYTES];
	ssize_t n = io_pread(stat_fd, text, sizeof(text) - 1, 0);
	const char *at;

	text[n > 0 ? n : 0] = '\0';
	at = strrchr(text, ')');
	for (int i = 0; at && i < CPU_FIELD; i++)
		at = strchr(at + 1, ' ');
	return at ? (int)strtol(at, NULL, 10) : -1;
}

bool stop_wait_continues(struct stop_wait *wait)
{
	uint64_t now_ns = io_now_ns();

	if (wait->stat_fd < 0)
		return false;
	if (now_ns - wait->checked_ns >= CPU_CHECK_NS) {
		wait->checked_ns = now_ns;
		if (find_cpu(wait->stat_fd) == sched_getcpu())
			stop_wait_close(wait);
	}
	return wait->stat_fd >= 0 && now_ns - wait->begun_ns <= MAX_NS;
}
