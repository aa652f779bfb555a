/* children.c - whom a process has started, as the kernel lists them */
#include "sampler/procfs/children.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CHILDREN_BYTES = 64 * 1024 };

static void read_list(int fd, void (*visit)(void *context, pid_t child), void *context)
{
	struct buf text;
	char *at;

	buf_init(&text, CHILDREN_BYTES);
	if (io_read_fd(fd, &text) == 0) {
		const char *rest = buf_text(&text);
		long child;

		while ((child = strtol(rest, &at, 10)) > 0) {
			visit(context, (pid_t)child);
			rest = at;
		}
	}
	buf_release(&text);
}

static void each_of_thread(int tasks_fd, const char *tid, void (*visit)(void *context, pid_t child),
			   void *context)
{
	_cleanup_fd_ int fd = -1;
	char path[32];

	(void)snprintf(path, sizeof(path), "%.12s/children", tid);
	fd = openat(tasks_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		read_list(fd, visit, context);
}

void children_each(pid_t pid, void (*visit)(void *context, pid_t child), void *context)
{
	const struct dirent *entry;
	char path[32];
	DIR *tasks;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	/* This thread alone reads this stream of entries. */
	while (tasks && (entry = readdir(tasks))) /* NOLINT(concurrency-mt-unsafe) */
		if (entry->d_name[0] != '.')
			each_of_thread(dirfd(tasks), entry->d_name, visit, context);
	if (tasks)
		(void)closedir(tasks);
}
