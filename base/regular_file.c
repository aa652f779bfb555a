/* regular_file.c - O_PATH first, then the same file through /proc/self/fd */
#include "base/regular_file.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/vfs.h>

static bool is_made_up(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) < 0 || fs.f_type == PROC_SUPER_MAGIC || fs.f_type == SYSFS_MAGIC ||
	       fs.f_type == DEBUGFS_MAGIC || fs.f_type == TRACEFS_MAGIC;
}

int regular_file_reopen(int place)
{
	struct stat st;
	char self[64];
	int fd;

	if (fstat(place, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode) || is_made_up(place))
		return -ENODEV;
	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", place);
	/* O_NONBLOCK: without it, open() waits for the holder of a lease on the file. */
	fd = open(self, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int regular_file_open(int at, const char *path, int flags)
{
	_cleanup_fd_ int place = openat(at, path, O_PATH | O_CLOEXEC | flags);

	return place < 0 ? -errno : regular_file_reopen(place);
}

bool regular_file_is_hollow(const struct stat *st)
{
	enum { SHORT = 1 << 20, RATIO = 64, BLOCK = 512 };

	return st->st_size > SHORT && st->st_size / RATIO > (off_t)st->st_blocks * BLOCK;
}
