/* control_rows.c - rows that come with a reply: a sealed memfd (memfd_create(2), unix(7)) */
#include "tools/control/control.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };

int control_rows_share(const struct buf *rows)
{
	_cleanup_fd_ int fd = memfd_create("wick-rows", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int r;

	if (fd < 0)
		return -errno;
	if (rows->failed || rows->len > CONTROL_ROWS_BYTES)
		return -EFBIG;
	r = io_write_all(fd, rows->data, rows->len, NULL);
	if (r < 0)
		return r;
	return fcntl(fd, F_ADD_SEALS, SEALS) < 0 ? -errno : steal_fd(&fd);
}

/* Only memory has seals: a read of it neither waits nor changes under us. */
static int check(int fd, size_t *ret_len)
{
	struct stat stat;
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0 || (seals & SEALS) != SEALS || fstat(fd, &stat) < 0)
		return -EPROTO;
	if (stat.st_size < 0 || stat.st_size > CONTROL_ROWS_BYTES)
		return -EFBIG;
	*ret_len = (size_t)stat.st_size;
	return 0;
}

int control_rows_read(int fd, struct buf *rows)
{
	size_t len;
	int r = check(fd, &len);

	buf_clear(rows);
	return r < 0 ? r : len == 0 ? 0 : io_read_fd(fd, rows);
}

int control_rows_send(int to, const void *message, size_t len, int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(fd))];
		struct cmsghdr aligned;
	} control = {{0}};
	struct iovec part = {.iov_base = (void *)message, .iov_len = len};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};

	if (fd >= 0) {
		struct cmsghdr *first;

		header.msg_control = control.bytes;
		header.msg_controllen = sizeof(control.bytes);
		first = CMSG_FIRSTHDR(&header);
		first->cmsg_level = SOL_SOCKET;
		first->cmsg_type = SCM_RIGHTS;
		first->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(first), &fd, sizeof(fd));
	}
	return sendmsg(to, &header, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* The kernel closes those that there is no room for (MSG_CTRUNC). */
static int descriptor_of(struct msghdr *header)
{
	const struct cmsghdr *first = CMSG_FIRSTHDR(header);
	int fd = -1;

	if (first && first->cmsg_level == SOL_SOCKET && first->cmsg_type == SCM_RIGHTS &&
	    first->cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(first), sizeof(fd));
	return fd;
}

ssize_t control_rows_receive(int from, void *message, size_t len, int *ret_fd)
{
	union {
		char bytes[CMSG_LEN(sizeof(int))]; /* no padding: exactly one descriptor fits */
		struct cmsghdr aligned;
	} control;
	struct iovec part = {.iov_base = message, .iov_len = len};
	struct msghdr header = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	ssize_t n = recvmsg(from, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	*ret_fd = -1;
	if (n < 0)
		return -errno;
	*ret_fd = descriptor_of(&header);
	return n;
}
