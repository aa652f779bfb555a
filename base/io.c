/* io.c - whole reads and whole writes */
#include "base/io.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>

enum { READ_STEP = 4096 };

ssize_t io_pread(int fd, void *to, size_t len, uint64_t offset)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(fd, (char *)to + done, len - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

int io_read_fd(int fd, struct buf *buf)
{
	char step[READ_STEP];
	uint64_t offset = 0;

	buf_clear(buf);
	for (;;) {
		ssize_t n = pread(fd, step, sizeof(step), (off_t)offset);
		int r;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return 0;
		r = buf_append(buf, step, (size_t)n);
		if (r < 0)
			return r;
		offset += (uint64_t)n;
	}
}

int io_read_text(int fd, char *text, size_t size)
{
	ssize_t n = fd < 0 ? -EBADF : io_pread(fd, text, size - 1, 0);

	if (n <= 0)
		return n < 0 ? (int)n : -ESRCH;
	text[n] = '\0';
	return 0;
}

int io_read_file(const char *path, struct buf *buf, struct err *err)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return err_set(err, errno, "open '%s'", path);
	r = io_read_fd(fd, buf);
	if (r < 0)
		return err_set(err, -r, "read '%s'", path);
	return 0;
}

int io_write_all(int fd, const void *bytes, size_t len, size_t *ret_written)
{
	size_t done = 0;
	int r = 0;

	while (done < len) {
		ssize_t n = write(fd, (const char *)bytes + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			r = n < 0 ? -errno : -ENOSPC;
			break;
		}
		done += (size_t)n;
	}
	if (ret_written)
		*ret_written = done;
	return r;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

uint64_t io_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t io_thread_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t io_realtime_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}
