/* stop_wait.c - looking around for what another thread does, as long as it has a processor of its
 * own */
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
	MOST_NS = 500000,
	ASK_NS = 40000, /* waking its processor takes about as long */
	STAT_BYTES = 1024,
	CPU_FIELD = 37, /* of its stat file, after the one behind the name */
};

void look_open(struct look *ret_look, pid_t pid, pid_t tid)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	*ret_look = (struct look){.stat_fd = open(path, O_RDONLY | O_CLOEXEC)};
}

void look_close(struct look *look)
{
	cleanup_fd(&look->stat_fd);
	look->stat_fd = -1;
}

void look_begin(struct look *look)
{
	look->begun_ns = io_now_ns();
	look->asked_ns = look->begun_ns;
}

/* Return: the processor that it is on or waits for; -1: not known. */
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

bool look_goes_on(struct look *look)
{
	uint64_t now_ns = io_now_ns();

	if (look->stat_fd < 0)
		return false;
	if (now_ns - look->asked_ns >= ASK_NS) {
		look->asked_ns = now_ns;
		if (find_cpu(look->stat_fd) == sched_getcpu())
			look_close(look);
	}
	return look->stat_fd >= 0 && now_ns - look->begun_ns <= MOST_NS;
}
