/* output_check.c - tries the place of a recording before a program is started */
#include "tools/record/output_check.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { PROBE_BYTES = 4096 };

void output_check_hint(int error, struct err *err)
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
	case EISDIR:
		err_hint(err, "the name of a file in it");
		break;
	case EEXIST:
		err_hint(err, "another name, or --force to replace it");
		break;
	default:
		err_hint(err, "-o in a directory of yours");
		break;
	}
}

int output_check_name(const char *path, bool force, struct err *err)
{
	struct stat st;
	int code = EEXIST;

	if (lstat(path, &st) < 0 || (force && S_ISREG(st.st_mode)))
		return 0;
	if (S_ISDIR(st.st_mode))
		code = EISDIR;
	if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) {
		(void)err_set(err, code, "write '%s'", path);
		output_check_hint(code, err);
		return -code;
	}
	(void)err_set(err, 0, "'%s' is a %s: wick does not write to it", path,
		      S_ISLNK(st.st_mode) ? "link" : "pipe or device");
	err_hint(err, "another name, or a redirection");
	return -EEXIST;
}

/* A file without a name, or where the file system has none, one that is gone at once. */
static int open_probe(const char *directory)
{
	char path[PATH_MAX + 32];
	int fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return -errno;
	(void)snprintf(path, sizeof(path), "%s/.wick.XXXXXX", directory);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	(void)unlink(path);
	return fd;
}

static int try_directory(const char *directory)
{
	_cleanup_fd_ int fd = open_probe(directory);
	char page[PROBE_BYTES] = {0};

	return fd < 0 ? fd : io_write_all(fd, page, sizeof(page), NULL);
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

int output_check(const char *path, bool rotated, bool force, struct err *err)
{
	char directory[PATH_MAX] = ".";
	char name[PATH_MAX];
	const char *slash = path ? strrchr(path, '/') : NULL;
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
		output_check_hint(-r, err);
		return r;
	}
	if (!path || strchr(path, '%'))
		return 0;
	first_name(path, rotated, name, sizeof(name));
	return output_check_name(name, force, err);
}
