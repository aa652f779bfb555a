/* output_check.c - tries the place of a recording before a program is started */
#include "tools/output_check.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { PROBE_BYTES = 4096 };

/* Part of a message: what to do about an error of a directory. */
static void add_hint(int error, struct err *err)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
		err_hint(err, "making the directory first");
		break;
	case ENOSPC:
	case EDQUOT:
		err_hint(err, "freeing space, or -o on another disk");
		break;
	default:
		err_hint(err, "-o in a directory of yours");
		break;
	}
}

static int try_directory(const char *directory)
{
	_cleanup_fd_ int fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	char page[PROBE_BYTES] = {0};
	struct stat st;

	if (fd >= 0)
		return io_write_all(fd, page, sizeof(page), NULL);
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return -errno;
	/* a file system without files that have no name: ask instead */
	if (stat(directory, &st) < 0)
		return -errno;
	return faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) < 0 ? -errno : 0;
}

/* PATH, or with rotation PATH with .0001 before its ending. */
static void first_name(const char *path, bool rotated, char *to, size_t size)
{
	const char *slash = strrchr(path, '/');
	const char *dot = strrchr(slash ? slash : path, '.');

	if (!rotated)
		(void)snprintf(to, size, "%s", path);
	else if (dot)
		(void)snprintf(to, size, "%.*s.0001%s", (int)(dot - path), path, dot);
	else
		(void)snprintf(to, size, "%s.0001", path);
}

int output_check(const char *path, bool rotated, struct err *err)
{
	char directory[PATH_MAX] = ".";
	char name[PATH_MAX];
	const char *slash = path ? strrchr(path, '/') : NULL;
	struct stat st;
	int r;

	if (path && strlen(path) + sizeof(".0001") > sizeof(name))
		return err_set(err, ENAMETOOLONG, "write '%.64s...'", path);
	if (slash)
		(void)snprintf(directory, sizeof(directory), "%.*s",
			       slash == path ? 1 : (int)(slash - path), path);
	if (strchr(directory, '%'))
		return 0; /* known when the program has a pid */
	r = try_directory(directory);
	if (r < 0) {
		(void)err_set(err, -r, "write to the directory '%s'", directory);
		add_hint(-r, err);
		return r;
	}
	if (!path || strchr(path, '%'))
		return 0;
	first_name(path, rotated, name, sizeof(name));
	if (lstat(name, &st) < 0)
		return 0;
	(void)err_set(err, EEXIST, "write '%s'", name);
	err_hint(err, "another name; wick never overwrites");
	return -EEXIST;
}
