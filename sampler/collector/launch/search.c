/* search.c - which file a command is, and why it could not be run */
#include "sampler/collector/launch/search.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

/* A message of our own instead of strerror's. */
#define fail(err, number, ...)                                                                     \
	({                                                                                         \
		struct err *err_ = (err);                                                          \
		(void)err_set(err_, 0, __VA_ARGS__);                                               \
		if (err_)                                                                          \
			err_->code = (number);                                                     \
		-(number);                                                                         \
	})

static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd < 0 ? -errno : fd;
}

static long pread_file(int fd, void *to, size_t len, uint64_t offset)
{
	return io_pread(fd, to, len, offset);
}

static void close_file(int fd)
{
	(void)close(fd);
}

static int stat_file(int fd, uint32_t *ret_mode, uint32_t *ret_uid, uint32_t *ret_gid,
		     bool *ret_capable)
{
	struct stat stat;

	if (fstat(fd, &stat) < 0)
		return -errno;
	*ret_mode = stat.st_mode;
	*ret_uid = stat.st_uid;
	*ret_gid = stat.st_gid;
	*ret_capable = fgetxattr(fd, "security.capability", NULL, 0) > 0;
	return 0;
}

void search_examine(const char *path, struct program *ret_program)
{
	const struct program_io io = {.open = open_file,
				      .pread = pread_file,
				      .close = close_file,
				      .stat = stat_file,
				      .uid = geteuid(),
				      .gid = getegid()};

	program_examine(&io, path, ret_program);
}

bool search_is_text(const char *path)
{
	char start[128];
	_cleanup_fd_ int fd = open_file(path);
	ssize_t n = fd < 0 ? -1 : io_pread(fd, start, sizeof(start), 0);

	return n >= 0 && !memchr(start, '\0', (size_t)n);
}

/* Return: 0: an executable file; -ENOENT; -EISDIR; -EACCES. */
static int check_file(const char *path)
{
	struct stat at;

	if (stat(path, &at) < 0)
		return -errno;
	if (S_ISDIR(at.st_mode))
		return -EISDIR;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ? -errno : 0;
}

static int search_path(const char *command, char *ret_path, size_t size)
{
	/* Nobody changes the environment while we look. */
	const char *path = getenv("PATH"); /* NOLINT(concurrency-mt-unsafe) */
	char denied[PATH_MAX] = "";

	if (!path)
		path = "/bin:/usr/bin";
	for (;;) {
		const char *colon = strchrnul(path, ':');
		int len = (int)(colon - path);
		int n = snprintf(ret_path, size, "%.*s%s%s", len, path, len ? "/" : "", command);
		int r = n > 0 && (size_t)n < size ? check_file(ret_path) : -ENAMETOOLONG;

		if (r == 0)
			return 0;
		/* A directory that we may not search says nothing about the command. */
		if (r == -EACCES && access(ret_path, F_OK) == 0)
			(void)snprintf(denied, sizeof(denied), "%s", ret_path);
		if (!*colon)
			break;
		path = colon + 1;
	}
	if (denied[0])
		(void)snprintf(ret_path, size, "%s", denied);
	return denied[0] ? -EACCES : -ENOENT;
}

int search_program(const char *command, char *ret_path, size_t size, struct err *err)
{
	bool has_slash = strchr(command, '/') != NULL;
	int r;

	if (!*command)
		return fail(err, ENOENT, "run '': the command is empty");
	if (has_slash && strlen(command) >= size)
		return err_set(err, ENAMETOOLONG, "run a command of %zu bytes", strlen(command));
	if (!has_slash) {
		r = search_path(command, ret_path, size);
		if (r == -ENOENT) {
			r = fail(err, ENOENT, "run '%s': there is no such command in PATH",
				 command);
			if (check_file(command) == 0)
				err_hint(err, "./%s", command);
			return r;
		}
		return r < 0 ? search_explain(command, ret_path, -r, err) : 0;
	}
	(void)snprintf(ret_path, size, "%s", command);
	r = check_file(ret_path);
	return r < 0 ? search_explain(command, ret_path, -r, err) : 0;
}

/* The file is there, so what is missing is what would run it. */
static int explain_missing(const char *command, const char *path, struct err *err)
{
	struct program program;

	search_examine(path, &program);
	if (program.interpreter[0])
		return fail(err, ENOEXEC, "run '%s': its interpreter '%s' does not exist", command,
			    program.interpreter);
	return fail(err, ENOEXEC, "run '%s': the loader that it asks for does not exist", command);
}

int search_explain(const char *command, const char *path, int code, struct err *err)
{
	struct program program;
	int r;

	switch (code) {
	case ENOENT:
		if (access(path, F_OK) == 0)
			return explain_missing(command, path, err);
		return err_set(err, code, "run '%s'", command);
	case EISDIR:
		return fail(err, EACCES, "run '%s': it is a directory, try: a program in it",
			    command);
	case EACCES:
		search_examine(path, &program);
		if (program.interpreter[0])
			return fail(err, EACCES,
				    "run '%s': its interpreter '%s' cannot be executed", command,
				    program.interpreter);
		r = err_set(err, code, "run '%s'", command);
		if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 && access(path, F_OK) == 0)
			err_hint(err, "chmod +x %s", path);
		return r;
	case ENOEXEC:
		return fail(err, ENOEXEC, "run '%s': it is no program for this machine", command);
	default:
		return err_set(err, code, "run '%s'", command);
	}
}
