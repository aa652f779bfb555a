/* segment.c - one file of a recording */
#include "output/files/internal.h"

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const struct segment_disk segment_real_disk = {.write = pwrite, .truncate = ftruncate};

void segment_make_way(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISREG(st.st_mode))
		(void)unlink(path);
}

int segment_open(struct segment *segment, const struct segment_disk *disk, const char *path,
		 struct err *err)
{
	struct stat st;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 || fstat(fd, &st) < 0) {
		int error = errno;

		if (fd >= 0)
			(void)close(fd);
		return err_set(err, error, "create '%s'", path);
	}
	*segment = (struct segment){
		.disk = disk,
		.fd = fd,
		.path = strdup(path),
		.dev = st.st_dev,
		.ino = st.st_ino,
		.opened_ns = io_now_ns(),
	};
	if (!segment->path) {
		(void)unlink(path);
		segment_close(segment);
		return err_set(err, ENOMEM, "create '%s'", path);
	}
	return 0;
}

int segment_write(struct segment *segment, const void *bytes, size_t len, size_t *ret_written)
{
	size_t done = 0;
	int r = 0;

	while (done < len) {
		ssize_t n = segment->disk->write(segment->fd, (const char *)bytes + done,
						 len - done, (off_t)(segment->len + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			r = n < 0 ? -errno : -ENOSPC;
			break;
		}
		done += (size_t)n;
	}
	*ret_written = done;
	return r;
}

int segment_keep(struct segment *segment, size_t len)
{
	segment->len += len;
	segment->ragged = segment->disk->truncate(segment->fd, (off_t)segment->len) < 0;
	return segment->ragged ? -errno : 0;
}

int segment_cut(struct segment *segment, uint64_t len)
{
	if (segment->disk->truncate(segment->fd, (off_t)len) < 0)
		return -errno;
	segment->len = len;
	return 0;
}

bool segment_is_gone(const struct segment *segment)
{
	struct stat st;

	return fstat(segment->fd, &st) == 0 && st.st_nlink == 0;
}

/* Whether the path still leads to this file: never remove another file. */
static bool is_in_place(const struct segment *segment)
{
	struct stat st;

	return lstat(segment->path, &st) == 0 && st.st_dev == segment->dev &&
	       st.st_ino == segment->ino;
}

void segment_close(struct segment *segment)
{
	if (segment->fd >= 0) {
		(void)close(segment->fd);
		if (segment->len == 0 && segment->path && is_in_place(segment))
			(void)unlink(segment->path);
	}
	free(segment->path);
	*segment = (struct segment){.fd = -1};
}
