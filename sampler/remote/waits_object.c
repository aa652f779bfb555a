/*
 * waits_object.c - what a blocked thread waits for, from its arguments and /proc/PID/fd
 *
 * Arguments and what they point to are the target's word, and change while they are read: what
 * makes no sense says nothing.  Links are read, never followed; no file is opened.
 */
#include "base/units.h"
#include "sampler/remote/blocked.h"
#include "sampler/remote/waits.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RESTART_BYTES = 32 };

/* The text of an object while it is put together. */
struct object {
	struct remote *remote;
	size_t room; /* of text, without the NUL */
	char *text;
};

/* What is too long loses its beginning: the end of a path says more. */
static void put(struct object *object, const char *text)
{
	static const char dots[] = "...";
	const size_t n_dots = sizeof(dots) - 1;
	size_t len = strlen(text);

	if (len <= object->room) {
		memcpy(object->text, text, len + 1);
		return;
	}
	memcpy(object->text, dots, n_dots);
	memcpy(object->text + n_dots, text + len - (object->room - n_dots),
	       object->room - n_dots + 1);
}

static bool read_all(struct remote *remote, uint64_t addr, void *to, size_t len)
{
	return addr != 0 && remote_copy(remote, addr, to, len) == len;
}

/* ---- time-outs */

/* Exact, in the largest unit that it is a whole number of. */
static void put_duration(uint64_t ns, char *to, size_t size)
{
	static const struct {
		uint64_t ns;
		const char *unit;
	} units[] = {{NS_PER_S, "s"}, {NS_PER_MS, "ms"}, {1000, "us"}, {1, "ns"}};
	size_t i = 0;

	while (ns % units[i].ns != 0)
		i++;
	(void)snprintf(to, size, "%" PRIu64 "%s", ns / units[i].ns, units[i].unit);
}

static void put_pair(int64_t seconds, int64_t part, uint64_t unit_ns, char *to, size_t size)
{
	uint64_t ns;

	if (seconds < 0 || part < 0 || (uint64_t)part >= NS_PER_S / unit_ns ||
	    __builtin_mul_overflow((uint64_t)seconds, NS_PER_S, &ns) ||
	    __builtin_add_overflow(ns, (uint64_t)part * unit_ns, &ns))
		return;
	put_duration(ns, to, size);
}

static void put_timeout(struct remote *remote, const struct waits_call *call,
			const struct blocked_at *at, char *to, size_t size)
{
	uint64_t arg = at->args[call->timeout_arg];
	struct timespec spec;
	struct timeval val;

	switch (call->timeout) {
	case TIMEOUT_NONE:
		return;
	case TIMEOUT_MS:
		if ((int32_t)arg >= 0)
			put_duration((arg & INT32_MAX) * NS_PER_MS, to, size);
		return;
	case TIMEOUT_TIMEVAL:
		if (read_all(remote, arg, &val, sizeof(val)))
			put_pair(val.tv_sec, val.tv_usec, 1000, to, size);
		return;
	case TIMEOUT_CLOCK:
		if (at->args[call->timeout_arg - 1] & TIMER_ABSTIME) {
			(void)snprintf(to, size, "deadline");
			return;
		}
		break;
	case TIMEOUT_TIMESPEC:
		break;
	}
	if (read_all(remote, arg, &spec, sizeof(spec)))
		put_pair(spec.tv_sec, spec.tv_nsec, 1, to, size);
}

/* ---- what for */

static void put_fd(struct object *object, uint64_t arg)
{
	char path[64];
	char link[PATH_MAX];
	ssize_t n;

	if ((int32_t)arg < 0)
		return;
	(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)remote_pid(object->remote),
		       (int)(int32_t)arg);
	n = readlink(path, link, sizeof(link) - 1);
	if (n <= 0)
		return;
	link[n] = '\0';
	put(object, link);
}

static void put_poll(struct object *object, uint64_t list, uint64_t n)
{
	struct pollfd one;
	char text[32];

	if (n == 1 && read_all(object->remote, list, &one, sizeof(one))) {
		put_fd(object, (uint64_t)(int64_t)one.fd);
	} else if (n > 1) {
		(void)snprintf(text, sizeof(text), "%" PRIu32 "fds", (uint32_t)n);
		put(object, text);
	}
}

static void put_futex(struct object *object, uint64_t addr)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "futex:0x%" PRIx64, addr);
	put(object, text);
}

/* The first one stands for all. */
static void put_futex_list(struct object *object, uint64_t list)
{
	uint64_t waiter[3]; /* value, address, flags */

	if (read_all(object->remote, list, waiter, sizeof(waiter)))
		put_futex(object, waiter[1]);
}

static void put_path(struct object *object, uint64_t addr)
{
	char path[PATH_MAX];
	size_t n = remote_copy(object->remote, addr, path, sizeof(path));

	if (memchr(path, '\0', n))
		put(object, path);
}

/* NAME:ID in decimal. */
static void put_id(struct object *object, const char *name, int64_t id)
{
	char text[48];

	(void)snprintf(text, sizeof(text), "%s:%" PRId64, name, id);
	put(object, text);
}

static void put_pid(struct object *object, int32_t pid)
{
	if (pid > 0)
		put_id(object, "pid", pid);
	else if (pid == -1)
		put(object, "pid:any");
	else if (pid == 0)
		put(object, "pgid:own");
	else
		put_id(object, "pgid", -(int64_t)pid);
}

static void put_waitid(struct object *object, uint64_t kind, uint64_t id)
{
	switch ((idtype_t)kind) {
	case P_ALL:
		put(object, "pid:any");
		break;
	case P_PID:
		put_id(object, "pid", (int32_t)id);
		break;
	case P_PGID:
		if ((int32_t)id)
			put_id(object, "pgid", (int32_t)id);
		else
			put(object, "pgid:own");
		break;
	case P_PIDFD:
		put_fd(object, id);
		break;
	}
}

/* "10.0.0.1:5432", "[::1]:80" */
static bool put_inet(struct object *object, const struct sockaddr_storage *from, size_t len)
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	char host[INET6_ADDRSTRLEN];
	char text[INET6_ADDRSTRLEN + 16];

	if (from->ss_family == AF_INET && len >= sizeof(in)) {
		memcpy(&in, from, sizeof(in));
		(void)inet_ntop(AF_INET, &in.sin_addr, host, sizeof(host));
		(void)snprintf(text, sizeof(text), "%s:%u", host, (unsigned)ntohs(in.sin_port));
	} else if (from->ss_family == AF_INET6 &&
		   len >= offsetof(struct sockaddr_in6, sin6_scope_id)) {
		memcpy(&in6, from, sizeof(in6));
		(void)inet_ntop(AF_INET6, &in6.sin6_addr, host, sizeof(host));
		(void)snprintf(text, sizeof(text), "[%s]:%u", host, (unsigned)ntohs(in6.sin6_port));
	} else {
		return false;
	}
	put(object, text);
	return true;
}

/* A path, or "@name" where there is none. */
static bool put_unix(struct object *object, const struct sockaddr_storage *from, size_t len)
{
	const size_t start = offsetof(struct sockaddr_un, sun_path);
	char text[sizeof(*from) + 1];

	if (from->ss_family != AF_UNIX || len <= start + 1)
		return false;
	memcpy(text, (const char *)from + start, len - start);
	text[len - start] = '\0';
	if (text[0] == '\0')
		text[0] = '@';
	put(object, text);
	return true;
}

static void put_peer(struct object *object, const uint64_t *args)
{
	struct sockaddr_storage from = {0};
	size_t len = args[2] < sizeof(from) ? (size_t)args[2] : sizeof(from);

	if (len >= sizeof(from.ss_family) && read_all(object->remote, args[1], &from, len) &&
	    (put_inet(object, &from, len) || put_unix(object, &from, len)))
		return;
	put_fd(object, args[0]);
}

static void put_what(struct object *object, const struct waits_call *call,
		     const struct blocked_at *at)
{
	const uint64_t *arg = &at->args[call->object_arg];

	switch (call->object) {
	case OBJECT_NONE:
		break;
	case OBJECT_FD:
		put_fd(object, *arg);
		break;
	case OBJECT_POLL:
		put_poll(object, arg[0], arg[1]);
		break;
	case OBJECT_FUTEX:
		put_futex(object, *arg);
		break;
	case OBJECT_FUTEX_LIST:
		put_futex_list(object, *arg);
		break;
	case OBJECT_PATH:
		put_path(object, *arg);
		break;
	case OBJECT_PEER:
		put_peer(object, arg);
		break;
	case OBJECT_PID:
		put_pid(object, (int32_t)*arg);
		break;
	case OBJECT_WAITID:
		put_waitid(object, arg[0], arg[1]);
		break;
	case OBJECT_MSG:
		put_id(object, "msg", (int32_t)*arg);
		break;
	case OBJECT_SEM:
		put_id(object, "sem", (int32_t)*arg);
		break;
	case OBJECT_SHM:
		put_id(object, "shm", (int32_t)*arg);
		break;
	}
}

void waits_object(struct remote *remote, const struct blocked_at *at, char to[SAMPLE_OBJECT_SIZE])
{
	const struct waits_call *call = at->in_syscall ? waits_call(at->nr) : NULL;
	struct object object = {.remote = remote, .room = SAMPLE_OBJECT_SIZE - 1, .text = to};
	char timeout[32] = "";
	size_t len;

	to[0] = '\0';
	if (!call)
		return;
	put_timeout(remote, call, at, timeout, sizeof(timeout));
	len = strlen(timeout);
	if (len)
		object.room -= len + 1; /* the comma */
	put_what(&object, call, at);
	if (!len)
		return;
	if (to[0]) {
		to += strlen(to);
		*to++ = ',';
	}
	memcpy(to, timeout, len + 1);
}

/* ---- restarted calls */

/* Those that restart_syscall goes on with. */
static bool can_restart(uint32_t nr)
{
	static const long calls[] = {
		__NR_futex,
		__NR_nanosleep,
		__NR_clock_nanosleep,
#ifdef __NR_poll
		__NR_poll,
#endif
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (nr == (uint64_t)calls[i])
			return true;
	return false;
}

void waits_restarted(struct remote *remote, struct blocked_at *at)
{
	static const uint8_t system_call[] = {0x0f, 0x05};
	const size_t end = RESTART_BYTES - sizeof(system_call);
	uint8_t code[RESTART_BYTES];
	uint32_t nr;

	if (!at->in_syscall || at->nr != __NR_restart_syscall || at->pc < RESTART_BYTES ||
	    !read_all(remote, at->pc - RESTART_BYTES, code, sizeof(code)) ||
	    memcmp(code + end, system_call, sizeof(system_call)) != 0)
		return;
	/* "mov $nr,%eax", the last before the call; other registers may be set in between. */
	for (size_t i = end - sizeof(nr); i-- > 0;) {
		memcpy(&nr, code + i + 1, sizeof(nr));
		if (code[i] == 0xb8 && can_restart(nr)) {
			at->nr = (long)nr;
			return;
		}
	}
}
