/* waits_children_fd.c - children that block in calls on descriptors and paths */
#include "waits_children.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* "pipe:[INODE]", as fstat has the inode. */
static void expect_fd(struct waits_place *place, const char *kind, int fd, const char *rest)
{
	struct stat stat = {0};

	(void)fstat(fd, &stat);
	(void)snprintf(place->shared->object, sizeof(place->shared->object), "%s:[%lu]%s", kind,
		       (unsigned long)stat.st_ino, rest);
}

/* ---- files */

static int prepare_pipe(struct waits_place *place)
{
	int r = pipe2(place->fds, O_CLOEXEC);

	expect_fd(place, "pipe", place->fds[0], "");
	return r;
}

static void block_read(struct waits_place *place)
{
	char byte;

	waits_ready(place);
	(void)!read(place->fds[0], &byte, 1);
}

static int prepare_full_pipe(struct waits_place *place)
{
	static const char page[4096];
	int r = prepare_pipe(place);

	if (r < 0 || fcntl(place->fds[1], F_SETFL, O_NONBLOCK) < 0)
		return -1;
	while (write(place->fds[1], page, sizeof(page)) > 0)
		continue;
	return fcntl(place->fds[1], F_SETFL, 0);
}

static void block_write(struct waits_place *place)
{
	waits_ready(place);
	(void)!write(place->fds[1], "x", 1);
}

/* A file, open twice: descriptors 0 and 1 do not share their locks. */
static int prepare_file(struct waits_place *place)
{
	(void)snprintf(place->path, sizeof(place->path), "/tmp/wick waits-XXXXXX");
	place->fds[0] = mkstemp(place->path);
	place->fds[1] = open(place->path, O_RDWR | O_CLOEXEC);
	waits_expect(place, place->path);
	return place->fds[0] < 0 || place->fds[1] < 0 ? -1 : 0;
}

static int prepare_flock(struct waits_place *place)
{
	return prepare_file(place) < 0 ? -1 : flock(place->fds[0], LOCK_EX);
}

static void block_flock(struct waits_place *place)
{
	waits_ready(place);
	(void)flock(place->fds[1], LOCK_EX);
}

static int prepare_lock(struct waits_place *place)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	return prepare_file(place) < 0 ? -1 : fcntl(place->fds[0], F_SETLK, &lock);
}

static void block_lock(struct waits_place *place)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	waits_ready(place);
	(void)fcntl(place->fds[1], F_SETLKW, &lock);
}

static int prepare_fifo(struct waits_place *place)
{
	(void)snprintf(place->path, sizeof(place->path), "/tmp/wick-waits-%d", (int)getpid());
	waits_expect(place, place->path);
	return mkfifo(place->path, 0600);
}

static void block_open(struct waits_place *place)
{
	waits_ready(place);
	(void)open(place->path, O_RDONLY | O_CLOEXEC);
}

/* ---- sockets */

static int prepare_pair(struct waits_place *place)
{
	int r = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, place->fds);

	expect_fd(place, "socket", place->fds[0], "");
	return r;
}

static void block_recv(struct waits_place *place)
{
	char byte;

	waits_ready(place);
	(void)recv(place->fds[0], &byte, 1, 0);
}

static void block_recvmsg(struct waits_place *place)
{
	char byte;
	struct iovec piece = {&byte, 1};
	struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};

	waits_ready(place);
	(void)recvmsg(place->fds[0], &message, 0);
}

static void block_send(struct waits_place *place)
{
	static const char page[4096];

	while (send(place->fds[0], page, sizeof(page), MSG_DONTWAIT) > 0)
		continue;
	waits_ready(place);
	(void)send(place->fds[0], page, sizeof(page), 0);
}

/* An abstract name; descriptor 0 listens. */
static struct sockaddr_un address_of(const struct waits_place *place, socklen_t *ret_len)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int n = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "wick-waits-%d",
			 (int)place->parent);

	*ret_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
	return address;
}

static int prepare_listener(struct waits_place *place)
{
	socklen_t len;
	struct sockaddr_un address = address_of(place, &len);

	place->fds[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	expect_fd(place, "socket", place->fds[0], "");
	if (bind(place->fds[0], (struct sockaddr *)&address, len) < 0)
		return -1;
	return listen(place->fds[0], 0);
}

static void block_accept(struct waits_place *place)
{
	waits_ready(place);
	(void)accept4(place->fds[0], NULL, NULL, SOCK_CLOEXEC);
}

/* One connection fills the queue. */
static int prepare_full_listener(struct waits_place *place)
{
	socklen_t len;
	struct sockaddr_un address = address_of(place, &len);

	if (prepare_listener(place) < 0)
		return -1;
	place->shared->object[0] = '@';
	memcpy(place->shared->object + 1, address.sun_path + 1, 32); /* zeros behind the name */
	place->fds[1] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	place->fds[2] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return connect(place->fds[1], (struct sockaddr *)&address, len);
}

static void block_connect(struct waits_place *place)
{
	socklen_t len;
	struct sockaddr_un address = address_of(place, &len);

	waits_ready(place);
	(void)connect(place->fds[2], (struct sockaddr *)&address, len);
}

/* ---- many descriptors */

static int prepare_poll_of_one(struct waits_place *place)
{
	int r = prepare_pipe(place);

	expect_fd(place, "pipe", place->fds[0], ",30s");
	return r;
}

static void block_poll_of_one(struct waits_place *place)
{
	struct pollfd one = {place->fds[0], POLLIN, 0};

	waits_ready(place);
	(void)poll(&one, 1, 30000);
}

static void block_poll_of_two(struct waits_place *place)
{
	struct pollfd two[] = {{place->fds[0], POLLIN, 0}, {place->fds[0], POLLPRI, 0}};

	waits_ready(place);
	(void)poll(two, 2, -1);
}

static int prepare_epoll(struct waits_place *place)
{
	place->fds[0] = epoll_create1(EPOLL_CLOEXEC);
	return place->fds[0] < 0 ? -1 : 0;
}

static void block_epoll(struct waits_place *place)
{
	struct epoll_event event;

	waits_ready(place);
	(void)epoll_wait(place->fds[0], &event, 1, -1);
}

static void block_epoll_pwait(struct waits_place *place)
{
	struct epoll_event event;

	waits_ready(place);
	(void)epoll_pwait(place->fds[0], &event, 1, 7000, NULL);
}

static int prepare_io_uring(struct waits_place *place)
{
	struct io_uring_params params = {0};

	place->fds[0] = (int)syscall(SYS_io_uring_setup, 1, &params);
	return place->fds[0] < 0 ? -1 : 0;
}

static void block_io_uring(struct waits_place *place)
{
	waits_ready(place);
	(void)syscall(SYS_io_uring_enter, place->fds[0], 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
}

static const struct waits_child children[] = {
	{"read of a pipe", "read", "", prepare_pipe, block_read},
	{"write to a full pipe", "write", "", prepare_full_pipe, block_write},
	{"flock", "flock", "", prepare_flock, block_flock},
	{"a lock of fcntl", "flock", "", prepare_lock, block_lock},
	{"open of a fifo", "open", "", prepare_fifo, block_open},
	{"recv", "recv", "", prepare_pair, block_recv},
	{"recvmsg", "recv", "", prepare_pair, block_recvmsg},
	{"send", "send", "", prepare_pair, block_send},
	{"accept", "accept", "", prepare_listener, block_accept},
	{"connect", "connect", "", prepare_full_listener, block_connect},
	{"poll of one", "poll", "", prepare_poll_of_one, block_poll_of_one},
	{"poll of two", "poll", "2fds", prepare_pipe, block_poll_of_two},
	{"epoll_wait", "epoll", "anon_inode:[eventpoll]", prepare_epoll, block_epoll},
	{"epoll_pwait", "epoll", "anon_inode:[eventpoll],7s", prepare_epoll, block_epoll_pwait},
	{"io_uring_enter", "io_uring", "anon_inode:[io_uring]", prepare_io_uring, block_io_uring},
};

const struct waits_child *waits_fd_child(size_t i)
{
	return i < sizeof(children) / sizeof(children[0]) ? &children[i] : NULL;
}
