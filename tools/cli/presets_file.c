/* presets_file.c - which wick.ini are read */
#include "tools/cli/presets_file.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/cli/say.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The main thread alone reads the environment, and nobody writes it. */
static const char *directory(const char *name)
{
	const char *value = getenv(name); /* NOLINT(concurrency-mt-unsafe) */

	return value && *value == '/' ? value : NULL;
}

bool presets_file_of_user(struct buf *path)
{
	const char *config = directory("XDG_CONFIG_HOME");
	const char *home = directory("HOME");

	if (config)
		buf_printf(path, "%s/wick/wick.ini", config);
	else if (home)
		buf_printf(path, "%s/.config/wick/wick.ini", home);
	return (config || home) && !path->failed;
}

/* Why a file is not to be believed; NULL: it is fine. */
static const char *doubt(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "it is not a regular file";
	if (st->st_uid != geteuid() && st->st_uid != 0)
		return "it belongs to another user";
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return "its group or other users can write to it, try: chmod go-w FILE";
	return NULL;
}

/* What cannot be opened: nobody's business, unless it is there or was asked for. */
static int refuse(const char *path, bool must_exist, struct err *err)
{
	int code = errno;
	struct stat st;

	if (must_exist)
		return err_set(err, code, "open '%s'", path);
	if (stat(path, &st) == 0)
		say_note("'%s' is not read: %s", path, strerrordesc_np(code));
	return 0;
}

int presets_file_read(const char *path, bool must_exist, struct buf *text, struct err *err)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const char *why;
	struct stat st;
	int r;

	if (fd < 0)
		return refuse(path, must_exist, err);
	if (fstat(fd, &st) < 0)
		return err_set(err, errno, "stat '%s'", path);
	why = doubt(&st);
	if (why) {
		say_note("'%s' is not read: %s", path, why);
		return 0;
	}
	r = io_read_fd(fd, text);
	if (r < 0)
		return err_set(err, -r, "read '%s'", path);
	if (memchr(text->data ? text->data : "", '\0', text->len))
		return err_set(err, 0, "'%s' is not a text file", path);
	return 1;
}
