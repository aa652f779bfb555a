/* top_output.c - CMD's standard output and error in a file */
#include "tools/top/internal.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/cli/terminal.h"
#include "tools/record/output_check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_FREE = 10, KEPT = 256 * 1024, TRIMMED_FROM = 4 * 1024 * 1024, SHOWN = 4096 };

static int make_file(struct top_output *output, struct err *err)
{
	const char *folder = getenv("TMPDIR"); /* NOLINT(concurrency-mt-unsafe) */
	int fd;

	(void)snprintf(output->path, sizeof(output->path), "%s/wick-top-output-XXXXXX",
		       folder && *folder == '/' ? folder : "/tmp");
	fd = mkostemp(output->path, O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, errno, "write '%s'", output->path);
	output->made = true;
	return fd;
}

static int open_file(struct top_output *output, const char *path, struct err *err)
{
	struct stat st;
	int fd;

	if (!path)
		return make_file(output, err);
	(void)snprintf(output->path, sizeof(output->path), "%s", path);
	fd = open(path,
		  O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY,
		  0666);
	if (fd < 0 && errno != ELOOP && errno != ENXIO) {
		int code = errno;

		(void)err_set(err, code, "write '%s'", path);
		output_check_hint(code, err);
		return -code;
	}
	if (fd >= 0 && fstat(fd, &st) == 0 && !S_ISFIFO(st.st_mode)) {
		(void)fcntl(fd, F_SETFL, O_APPEND); /* CMD writes as to any file */
		return fd;
	}
	if (fd >= 0)
		(void)close(fd);
	(void)err_set(err, 0, "'%s' is a link or a pipe: wick does not write to it", path);
	err_hint(err, "another name");
	return -EEXIST;
}

/* Descriptor AT becomes a copy of FD; its own is kept. */
static int replace(struct top_output *output, int at, int fd, struct err *err)
{
	int saved = fcntl(at, F_DUPFD_CLOEXEC, FIRST_FREE);

	if (saved < 0 || dup2(fd, at) < 0) {
		int code = errno;

		if (saved >= 0)
			(void)close(saved);
		return err_set(err, code, "redirect descriptor %d", at);
	}
	output->saved[at] = saved + 1;
	return 0;
}

int top_output_redirect(struct top_output *output, const char *path, struct err *err)
{
	_cleanup_fd_ int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int fd = null < 0 ? err_set(err, errno, "open '/dev/null'") : open_file(output, path, err);
	int r = 0;

	if (fd < 0)
		return fd;
	output->file = fd + 1;
	if (isatty(STDIN_FILENO))
		r = replace(output, STDIN_FILENO, null, err);
	if (r == 0)
		r = replace(output, STDOUT_FILENO, fd, err);
	if (r == 0 && isatty(STDERR_FILENO))
		r = replace(output, STDERR_FILENO, fd, err);
	if (r < 0)
		top_output_restore(output);
	return r;
}

void top_output_restore(struct top_output *output)
{
	for (int at = 0; at < 3; at++) {
		if (!output->saved[at])
			continue;
		(void)dup2(output->saved[at] - 1, at);
		(void)close(output->saved[at] - 1);
		output->saved[at] = 0;
	}
}

static off_t size_of(const struct top_output *output)
{
	struct stat st;

	return output->file && fstat(output->file - 1, &st) == 0 ? st.st_size : 0;
}

void top_output_trim(const struct top_output *output)
{
	off_t size = output->made ? size_of(output) : 0;

	if (size > TRIMMED_FROM) /* a file system that cannot do it keeps all */
		(void)fallocate(output->file - 1, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
				size - KEPT);
}

/* The last lines, whole ones, on standard error. */
static void show_end(const struct top_output *output, const char *command)
{
	char text[SHOWN];
	off_t size = size_of(output);
	off_t from = size > SHOWN ? size - SHOWN : 0;
	ssize_t n = io_pread(output->file - 1, text, sizeof(text), (uint64_t)from);
	const char *begin = text;

	if (n <= 0)
		return;
	if (from > 0 && memchr(text, '\n', (size_t)n))
		begin = (const char *)memchr(text, '\n', (size_t)n) + 1;
	say_note("%s '%s' wrote:", from > 0 ? "the last lines that" : "what", command);
	n -= begin - text;
	(void)io_write_all(STDERR_FILENO, begin, (size_t)n, NULL);
	if (n > 0 && begin[n - 1] != '\n')
		(void)io_write_all(STDERR_FILENO, "\n", 1, NULL);
}

void top_output_finish(struct top_output *output, const char *command, bool ended)
{
	top_output_restore(output);
	if (!output->file)
		return;
	if (output->made && ended) {
		show_end(output, command);
		(void)unlink(output->path);
	} else if (!ended) {
		say_note("'%s' continues to run; its output goes to '%s'", command, output->path);
	}
	(void)close(output->file - 1);
	*output = (struct top_output){0};
}
