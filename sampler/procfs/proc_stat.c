/* proc_stat.c - the stat file of a process or a thread */
#include "sampler/procfs/proc_stat.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 1024 };

int proc_stat_parse(const char *text, enum proc_stat_field last, struct proc_stat *ret_stat)
{
	/* The name stands in parentheses and can hold any. */
	const char *at = strrchr(text, ')');

	if (!at || at[1] != ' ' || !at[2] || at[3] != ' ')
		return -EBADMSG;
	ret_stat->state = at[2];
	at += 3;
	for (unsigned i = STAT_PARENT; i <= (unsigned)last; i++) {
		char *end;

		ret_stat->at[i] = strtoull(at, &end, 10);
		if (end == at)
			return -EBADMSG;
		at = end;
	}
	return 0;
}

int proc_stat_read(int fd, enum proc_stat_field last, struct proc_stat *ret_stat)
{
	char text[TEXT_BYTES];
	int r = io_read_text(fd, text, sizeof(text));

	return r < 0 ? r : proc_stat_parse(text, last, ret_stat);
}

int proc_stat_of(pid_t pid, enum proc_stat_field last, struct proc_stat *ret_stat)
{
	_cleanup_fd_ int fd = -1;
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	return proc_stat_read(fd, last, ret_stat);
}
