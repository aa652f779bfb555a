/* proc_stat.c - the stat file of a process or a thread */
#include "sampler/procfs/proc_stat.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* linux/pidfd.h of Linux 6.13, which older systems lack; the bit is of 6.15. */
struct exit_info {
	uint64_t mask;
	uint64_t cgroup_id;
	uint32_t ids[11];
	int32_t exit_code;
};
#define GET_INFO  _IOWR(0xff, 11, struct exit_info)
#define INFO_EXIT (UINT64_C(1) << 3)
_Static_assert(sizeof(struct exit_info) == 64, "the first size of struct pidfd_info");

int ended_by_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : ENDED_ITSELF;
}

/* Only of what has been waited for. */
static bool ask_pidfd(int pidfd, int *ret_status)
{
	struct exit_info info = {.mask = INFO_EXIT};

	if (pidfd < 0 || ioctl(pidfd, GET_INFO, &info) < 0 || !(info.mask & INFO_EXIT))
		return false;
	*ret_status = info.exit_code;
	return true;
}

/* Without permission the kernel reports exit code 0.  The directory belongs to the process's user.
 */
static bool may_look(pid_t pid)
{
	char path[64];
	struct stat st;

	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return geteuid() == 0 || (stat(path, &st) == 0 && st.st_uid == geteuid());
}

/* Only of a zombie. */
static bool ask_stat(pid_t pid, int *ret_status)
{
	struct proc_stat stat = {.state = 0};

	if (proc_stat_of(pid, STAT_EXIT_CODE, &stat) < 0 || stat.state != 'Z')
		return false;
	*ret_status = (int)stat.at[STAT_EXIT_CODE];
	return *ret_status != 0 || may_look(pid);
}

int ended_by(pid_t pid, int pidfd)
{
	int status;

	if (ask_pidfd(pidfd, &status) || ask_stat(pid, &status) || ask_pidfd(pidfd, &status))
		return ended_by_status(status);
	return ENDED_UNKNOWN;
}
