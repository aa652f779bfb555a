/* handshake.c - the agent's side of the socket, with a bounded wait */
#include "sampler/agent/agent.h"
#include "sampler/agent/start.h"
#include "sampler/handler/on_sigprof.h"
#include "sampler/handler/sys/clock.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

enum {
	NO_ENTRY = -2,    /* -ENOENT */
	AGAIN = -11,      /* -EAGAIN */
	PROTOCOL = -71,   /* -EPROTO */
	TIMED_OUT = -110, /* -ETIMEDOUT */
	RETRY_NS = 2000000,
	NS_PER_MS = 1000000,
};

static void copy_text(char *to, const char *from, uint32_t size)
{
	uint32_t i = 0;

	for (; i + 1 < size && from[i]; i++)
		to[i] = from[i];
	for (; i < size; i++)
		to[i] = '\0';
}

/* EAGAIN: the backlog is full, because the collector is busy. */
static int connect_until(int fd, uint64_t deadline_ns)
{
	const struct sys_timespec pause = {.nsec = RETRY_NS};
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int r;

	copy_text(to.sun_path, agent.socket, sizeof(to.sun_path));
	for (;;) {
		r = (int)sys3(__NR_connect, fd, &to, sizeof(to));
		if (r != AGAIN || clock_now_ns() >= deadline_ns)
			return r;
		(void)sys2(__NR_nanosleep, &pause, NULL);
	}
}

static int open_socket(uint64_t deadline_ns)
{
	int fd = (int)sys3(__NR_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int r;

	if (fd < 0)
		return fd;
	r = connect_until(fd, deadline_ns);
	if (r == 0)
		return fd;
	(void)sys1(__NR_close, fd);
	return r;
}

static int send_request(int fd, const struct handshake_request *request)
{
	long r = sys6(__NR_sendto, fd, (long)request, sizeof(*request), MSG_NOSIGNAL | MSG_DONTWAIT,
		      0, 0);

	return r < 0 ? (int)r : 0;
}

static int wait_readable(int fd, uint64_t deadline_ns)
{
	struct pollfd poll = {.fd = fd, .events = POLLIN};
	struct sys_timespec left;
	uint64_t now;
	long r;

	do {
		now = clock_now_ns();
		if (now >= deadline_ns)
			return TIMED_OUT;
		left = (struct sys_timespec){.sec = (int64_t)((deadline_ns - now) / 1000000000),
					     .nsec = (int64_t)((deadline_ns - now) % 1000000000)};
		r = sys5(__NR_ppoll, &poll, 1, &left, 0, 0);
	} while (r == -4 /* EINTR */);
	return r == 1 ? 0 : TIMED_OUT;
}

/* The descriptor that came with the reply. */
static int passed_fd(struct msghdr *message)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(message);

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
	    c->cmsg_len != CMSG_LEN(sizeof(int)))
		return PROTOCOL;
	return *(const int *)(const void *)CMSG_DATA(c);
}

static int receive_rings(int fd)
{
	_Alignas(struct cmsghdr) unsigned char control[CMSG_SPACE(sizeof(int))] = {0};
	struct handshake_reply reply = {0};
	struct iovec body = {.iov_base = &reply, .iov_len = sizeof(reply)};
	struct msghdr message = {.msg_iov = &body,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 /* Without padding, where a second descriptor would fit. */
				 .msg_controllen = CMSG_LEN(sizeof(int))};
	long r = sys3(__NR_recvmsg, fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	int ring;

	if (r < 0)
		return (int)r;
	ring = passed_fd(&message);
	if (r == sizeof(reply) && reply.magic == WIRE_MAGIC && reply.version == WIRE_VERSION &&
	    reply.status == HANDSHAKE_ACCEPTED)
		return ring;
	if (ring >= 0)
		(void)sys1(__NR_close, ring);
	return PROTOCOL;
}

static uint64_t deadline_in(int timeout_ms)
{
	return clock_now_ns() + (uint64_t)timeout_ms * NS_PER_MS;
}

/* Return:  the result of RECEIVE, if not NULL; 0; -errno. */
static int exchange(const struct handshake_request *request, uint64_t deadline_ns,
		    int (*receive)(int fd))
{
	int fd = agent_present() ? open_socket(deadline_ns) : NO_ENTRY;
	int r;

	if (fd < 0)
		return fd;
	r = send_request(fd, request);
	if (r == 0 && receive)
		r = wait_readable(fd, deadline_ns);
	if (r == 0 && receive)
		r = receive(fd);
	(void)sys1(__NR_close, fd);
	return r;
}

int handshake_rings(enum handshake_kind kind, int timeout_ms)
{
	const struct handshake_request request = {
		.magic = WIRE_MAGIC,
		.version = WIRE_VERSION,
		.kind = (uint16_t)kind,
		.pid = (int32_t)sys0(__NR_getpid),
		.why = kind == HANDSHAKE_FORK && !agent_interposes() ? (int32_t)handler_signal : 0,
		.cpu_ns = clock_process_cpu_ns(),
	};

	return exchange(&request, deadline_in(timeout_ms), receive_rings);
}

void handshake_unsupported(int32_t pid, int32_t why, const char *path)
{
	struct handshake_request request = {
		.magic = WIRE_MAGIC,
		.version = WIRE_VERSION,
		.kind = HANDSHAKE_UNSUPPORTED,
		.pid = pid,
		.why = why,
	};

	copy_text(request.path, path, sizeof(request.path));
	(void)exchange(&request, 0, NULL);
}

/* Only that there is a reply matters; end of file is none. */
static int receive_reply(int fd)
{
	struct handshake_reply reply;
	long r = sys6(__NR_recvfrom, fd, (long)&reply, sizeof(reply), MSG_DONTWAIT, 0, 0);

	return r == sizeof(reply) ? 0 : PROTOCOL;
}

int handshake_events(enum handshake_kind kind, int timeout_ms)
{
	const struct handshake_request request = {
		.magic = WIRE_MAGIC,
		.version = WIRE_VERSION,
		.kind = (uint16_t)kind,
		.pid = (int32_t)sys0(__NR_getpid),
	};

	return exchange(&request, deadline_in(timeout_ms), timeout_ms ? receive_reply : NULL);
}
