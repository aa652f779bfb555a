/* handshake.c - replies to agents that connect; never waits for a client */
#include "sampler/collector/drain/handshake.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/units.h"
#include "sampler/attach/attach_check.h"
#include "sampler/collector/drain/drain.h"
#include "sampler/collector/drain/drain_external.h"
#include "sampler/collector/drain/state.h"
#include "sampler/procfs/proc.h"
#include "sampler/procfs/proc_status.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

enum {
	HANDSHAKE_MS = 1000,     /* a connection that sends nothing for this long is closed */
	ACCEPT_BURST = 256,      /* connections accepted between two passes */
	STRANGERS_A_SECOND = 64, /* connections of another user that belong to no agent of ours */
	CLOSED_MS = 1000,        /* how long that user is refused; doubled each time */
	CLOSED_DOUBLINGS = 6,
	MAX_ANCESTORS = 64,
};

/* Ours, ours again after an exec, or started by one that is. */
static bool welcome_here(const struct collector *collector, const struct ucred *peer)
{
	pid_t pid = peer->pid;

	if (pid <= 0)
		return false;
	if (peer->uid == geteuid())
		return true;
	for (int i = 0; i < MAX_ANCESTORS && pid > 1; i++) {
		if (pid == collector->child || map_get(&collector->drain.by_pid, (uint64_t)pid))
			return true;
		pid = proc_parent(pid);
	}
	return false;
}

/* Whether it loaded the agent itself: by fork, or because it started with our environment. */
static bool left_out(const struct collector *collector, pid_t pid)
{
	return collector->options.alone && pid != collector->child &&
	       !map_get(&collector->drain.by_pid, (uint64_t)pid);
}

/* Return: whether it is a message of this version that holds what its kind needs. */
static bool request_is_valid(const struct handshake_request *request)
{
	if (request->kind == HANDSHAKE_UNSUPPORTED)
		return memchr(request->path, '\0', sizeof(request->path)) != NULL &&
		       unsupported_why((enum program_kind)request->why) != NULL;
	return request->kind >= HANDSHAKE_START && request->kind <= HANDSHAKE_LEAVING;
}

/* One message with or without the descriptor; a client with a full buffer loses the message. */
static void answer(int fd, enum handshake_status status, int ring_fd)
{
	struct handshake_reply welcome = {
		.magic = WIRE_MAGIC, .version = WIRE_VERSION, .status = (uint16_t)status};
	struct iovec part = {.iov_base = &welcome, .iov_len = sizeof(welcome)};
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (ring_fd >= 0) {
		struct cmsghdr *rights;

		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		rights = CMSG_FIRSTHDR(&message);
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(rights), &ring_fd, sizeof(int));
	}
	(void)sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/*
 * The process that a client means: itself, by its number in its own namespace, or a child that it
 * has just started.  Return: 0: another process, or a child whose number here is not known.
 */
static pid_t spoken_of(const struct handshake_request *request, pid_t peer)
{
	struct proc_status status;
	pid_t inner = proc_status_read(&status, peer, 0) < 0 ? 0 : proc_status_inner(&status);

	proc_status_release(&status);
	if (request->pid <= 0 || request->pid == inner || request->pid == peer)
		return peer;
	return inner == peer && proc_parent(request->pid) == peer ? request->pid : 0;
}

static void take_unsupported(struct collector *collector, const struct handshake_request *request,
			     pid_t peer)
{
	enum program_kind kind = (enum program_kind)request->why;
	pid_t pid = spoken_of(request, peer);

	if (left_out(collector, pid))
		return;
	if (!pid) {
		unsupported_add(&collector->drain.unsupported, peer, request->path, kind);
		return;
	}
	drain_unsupported(collector, pid);
	drain_external_expect(collector, pid, request->path, kind);
}

/* The process waits for the answer, so its maps file is read while nothing moves. */
static void take_start(struct collector *collector, int fd, const struct handshake_request *request,
		       pid_t peer)
{
	const struct process *old = map_get(&collector->drain.by_pid, (uint64_t)peer);
	uint64_t before_ns = old ? process_until_ns(old) : 0;
	struct process *process;

	if (drain_start(collector, peer, request->pid, &process) < 0) {
		answer(fd, HANDSHAKE_REFUSED, -1);
		return;
	}
	collector->drain.stats.starting_ns += process_begin(process, before_ns);
	if (request->kind == HANDSHAKE_START)
		process_keep_modules(process);
	if (request->kind == HANDSHAKE_FORK && attach_signal_fits(request->why)) {
		process->unhooked = true;
		process->child_cpu.place = CHILD_CPU_CHILD;
		process->stack_start = proc_stack_start(peer);
		process->signal = request->why;
		process->ring.header->signal = (uint32_t)process->signal;
		process->ring.header->discovery = collector_auto_discovery();
	}
	answer(fd, HANDSHAKE_ACCEPTED, process->ring.fd);
}

/* The process waits, before an exec above all: the request is done before the reply. */
static void take_events(struct collector *collector, int fd,
			const struct handshake_request *request, pid_t peer)
{
	struct drain *drain = &collector->drain;
	struct process *process = map_get(&drain->by_pid, (uint64_t)peer);

	if (process && process->perf.on) {
		process_drain(process, &drain->stream.order);
		if (request->kind == HANDSHAKE_EVENTS_OFF) {
			perf_threads_off(process);
		} else {
			perf_threads_on(process);
			perf_threads_scan(process, &collector->options.perf, &drain->stats);
		}
	}
	answer(fd, HANDSHAKE_ACCEPTED, -1);
}

/* The process waits: its memory goes after the reply. */
static void take_leaving(struct collector *collector, int fd, pid_t peer)
{
	struct process *process = map_get(&collector->drain.by_pid, (uint64_t)peer);

	if (process)
		process_tables_leave(process->tables, io_now_ns());
	answer(fd, HANDSHAKE_ACCEPTED, -1);
}

static bool is_stranger(uid_t uid)
{
	return uid != 0 && uid != geteuid();
}

/* Return: what is kept of UID; NULL: too many others are turned away. */
static struct caller *caller_of(struct drain *drain, uid_t uid)
{
	struct caller *oldest = NULL;

	for (struct caller *at = drain->callers; at < drain->callers + DIRECTORY_MOST_CLOSED;
	     at++) {
		if (at->uid == uid)
			return at;
		if (!at->closed_ns && (!oldest || at->since_ns < oldest->since_ns))
			oldest = at;
	}
	if (oldest)
		*oldest = (struct caller){.uid = uid};
	return oldest;
}

/* The kernel turns away those that are closed to: a connection costs more than it costs them. */
static void close_to_callers(struct collector *collector)
{
	struct drain *drain = &collector->drain;
	uid_t uids[DIRECTORY_MOST_CLOSED];
	size_t n = 0;

	for (size_t i = 0; i < DIRECTORY_MOST_CLOSED; i++)
		if (drain->callers[i].closed_ns)
			uids[n++] = drain->callers[i].uid;
	directory_close_to(&collector->directory, uids,
			   drain->all_closed_ns ? DIRECTORY_MOST_CLOSED + 1 : n);
}

/* Return: whether a connection of UID is taken; it counts until it turns out to be one of ours. */
static bool count_stranger(struct collector *collector, uid_t uid)
{
	struct drain *drain = &collector->drain;
	uint64_t now_ns = io_now_ns();
	struct caller *caller = caller_of(drain, uid);

	if (!caller) {
		if (!drain->all_closed_ns) {
			drain->all_closed_ns = now_ns + CLOSED_MS * NS_PER_MS;
			close_to_callers(collector);
		}
		return false;
	}
	if (caller->closed_ns)
		return false;
	if (now_ns - caller->since_ns > NS_PER_S) {
		if (now_ns - caller->since_ns > (NS_PER_S << CLOSED_DOUBLINGS) + NS_PER_S)
			caller->n_closed = 0;
		caller->since_ns = now_ns;
		caller->n = 0;
	}
	if (caller->n++ < STRANGERS_A_SECOND)
		return true;
	caller->closed_ns = now_ns + (CLOSED_MS * NS_PER_MS << caller->n_closed);
	if (caller->n_closed < CLOSED_DOUBLINGS)
		caller->n_closed++;
	drain->stats.flooded++;
	drain->stats.flooded_uid = uid;
	close_to_callers(collector);
	return false;
}

static void is_ours_after_all(struct drain *drain, uid_t uid)
{
	struct caller *caller = is_stranger(uid) ? caller_of(drain, uid) : NULL;

	if (caller && caller->n > 0)
		caller->n--;
}

/* Counting the user's connections starts again when it is accepted again. */
static void let_in_again(struct collector *collector, uint64_t now_ns)
{
	struct drain *drain = &collector->drain;
	bool changed = drain->all_closed_ns && drain->all_closed_ns <= now_ns;

	if (changed)
		drain->all_closed_ns = 0;
	for (size_t i = 0; i < DIRECTORY_MOST_CLOSED; i++) {
		struct caller *caller = &drain->callers[i];

		if (!caller->closed_ns || caller->closed_ns > now_ns)
			continue;
		caller->closed_ns = 0;
		caller->since_ns = now_ns;
		caller->n = 0;
		changed = true;
	}
	if (changed)
		close_to_callers(collector);
}

/* Return: false when there is nothing to read yet. */
static bool take_message(struct collector *collector, int fd)
{
	struct ucred peer;
	socklen_t peer_len = sizeof(peer);
	struct handshake_request request;
	/* One byte more, to see a message that is too long. */
	char bytes[sizeof(request) + 1];
	ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n != (ssize_t)sizeof(request))
		return true;
	memcpy(&request, bytes, sizeof(request));
	if (request.magic != WIRE_MAGIC ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_len) < 0)
		return true;
	if (!request_is_valid(&request) || !welcome_here(collector, &peer)) {
		answer(fd, HANDSHAKE_REFUSED, -1);
		return true;
	}
	is_ours_after_all(&collector->drain, peer.uid);
	if (request.version != WIRE_VERSION ||
	    (request.kind != HANDSHAKE_UNSUPPORTED && left_out(collector, peer.pid))) {
		answer(fd, HANDSHAKE_REFUSED, -1);
		return true;
	}
	if (request.kind == HANDSHAKE_UNSUPPORTED)
		take_unsupported(collector, &request, peer.pid);
	else if (request.kind == HANDSHAKE_LEAVING)
		take_leaving(collector, fd, peer.pid);
	else if (request.kind >= HANDSHAKE_EVENTS_ON)
		take_events(collector, fd, &request, peer.pid);
	else
		take_start(collector, fd, &request, peer.pid);
	return true;
}

static void close_connection(struct connection *connection)
{
	(void)close(connection->fd);
	connection->fd = -1;
}

/* A free place, or the one that has kept us waiting longest. */
static uint32_t place_for(struct drain *drain)
{
	uint32_t oldest = 0;

	for (uint32_t i = 0; i < MAX_CONNECTIONS; i++) {
		if (drain->connections[i].fd < 0)
			return i;
		if (drain->connections[i].deadline_ns < drain->connections[oldest].deadline_ns)
			oldest = i;
	}
	close_connection(&drain->connections[oldest]);
	return oldest;
}

static void keep(struct collector *collector, int fd)
{
	struct drain *drain = &collector->drain;
	uint32_t index = place_for(drain);

	if (drain_watch_fd(drain, fd, SOURCE_CONNECTION, index) < 0) {
		(void)close(fd);
		return;
	}
	drain->connections[index] = (struct connection){
		.fd = fd, .deadline_ns = io_now_ns() + HANDSHAKE_MS * NS_PER_MS};
}

/* No descriptor is left: close the connection, so that the client does not wait and we are not
 * woken. */
static void turn_away(struct collector *collector)
{
	struct drain *drain = &collector->drain;
	int fd;

	if (drain->spare_fd >= 0)
		(void)close(drain->spare_fd);
	fd = accept4(collector->directory.listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd >= 0)
		(void)close(fd);
	drain->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	drain->stats.agentless++;
	drain->stats.agentless_errno = EMFILE;
}

static bool is_taken(struct collector *collector, int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
	       (!is_stranger(peer.uid) || count_stranger(collector, peer.uid));
}

void handshake_accept(struct collector *collector)
{
	for (int i = 0; i < ACCEPT_BURST; i++) {
		int fd = accept4(collector->directory.listen_fd, NULL, NULL,
				 SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0) {
			if (errno == EMFILE || errno == ENFILE)
				turn_away(collector);
			return;
		}
		if (!is_taken(collector, fd) || take_message(collector, fd))
			(void)close(fd);
		else
			keep(collector, fd);
	}
}

void handshake_receive(struct collector *collector, uint32_t index)
{
	struct connection *connection = &collector->drain.connections[index];

	if (index < MAX_CONNECTIONS && connection->fd >= 0 &&
	    take_message(collector, connection->fd))
		close_connection(connection);
}

void handshake_expire(struct collector *collector, uint64_t now_ns)
{
	for (uint32_t i = 0; i < MAX_CONNECTIONS; i++) {
		struct connection *connection = &collector->drain.connections[i];

		if (connection->fd >= 0 && connection->deadline_ns <= now_ns)
			close_connection(connection);
	}
	let_in_again(collector, now_ns);
}

void handshake_close(struct collector *collector)
{
	handshake_expire(collector, UINT64_MAX);
}
