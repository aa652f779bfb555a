/* control_server.c - a recording's socket: permissions, requests and replies */
#include "tools/control/control.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define SILENCE_NS UINT64_C(1000000000)
enum {
	BACKLOG = 64,
	SWEEP_MOST = 256,
	SOCKET_NAME_BYTES = 24, /* less than what control_directories.c leaves for it */
	PATH_BYTES = sizeof(((struct sockaddr_un *)0)->sun_path),
};

/* With its final name, or the one before. */
static bool is_of_a_recording(const char *name, pid_t *ret_pid)
{
	char *end;
	long pid = strtol(name, &end, 10);

	if (*end >= 'a' && *end <= 'z')
		end++;
	*ret_pid = (pid_t)pid;
	return pid > 0 && pid <= INT32_MAX &&
	       (strcmp(end, ".control") == 0 || strcmp(end, ".new") == 0);
}

/*
 * Whether no process has this socket open any more.  The kernel checks that before it refuses a
 * socket of another type, and the listener does not notice.
 */
static bool is_left(const struct sockaddr_un *address)
{
	_cleanup_fd_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 &&
	       errno == ECONNREFUSED;
}

static void name_socket(struct sockaddr_un *address, const char *directory, const char *name)
{
	address->sun_family = AF_UNIX;
	/* control_directories.c has left room for it. */
	(void)snprintf(address->sun_path, sizeof(address->sun_path), "%.*s/%.*s",
		       (int)sizeof(address->sun_path) - SOCKET_NAME_BYTES - 1, directory,
		       SOCKET_NAME_BYTES - 1, name);
}

static void name_ours(struct sockaddr_un *address, const char *directory, const char *mark,
		      const char *ending)
{
	char name[SOCKET_NAME_BYTES];

	(void)snprintf(name, sizeof(name), "%d%s%s", (int)getpid(), mark, ending);
	name_socket(address, directory, name);
}

/*
 * The sockets of recordings that were killed.  A number that lives on in another process stays;
 * one that is unknown here may be that of a recording in another pid namespace.
 */
static void sweep(const char *directory)
{
	const struct dirent *entry;
	DIR *entries = opendir(directory);

	if (!entries)
		return;
	/* This thread alone reads this stream of entries. */
	for (int i = 0; i < SWEEP_MOST && (entry = readdir(entries)); /* NOLINT */ i++) {
		struct sockaddr_un address;
		pid_t pid;

		if (!is_of_a_recording(entry->d_name, &pid))
			continue;
		name_socket(&address, directory, entry->d_name);
		if (kill(pid, 0) < 0 && errno == ESRCH && is_left(&address))
			(void)unlinkat(dirfd(entries), entry->d_name, 0);
	}
	(void)closedir(entries);
}

/* By one name no client finds it yet, by the next it can reply at once. */
static int listen_as(int fd, const struct sockaddr_un *before, const struct sockaddr_un *address)
{
	int r;

	if (is_left(before)) /* of a recording that had this number and was killed */
		(void)unlink(before->sun_path);
	if (is_left(address))
		(void)unlink(address->sun_path);
	if (bind(fd, (const struct sockaddr *)before, sizeof(*before)) < 0)
		return errno == EADDRINUSE ? -EEXIST : -errno;
	r = listen(fd, BACKLOG) < 0 || link(before->sun_path, address->sun_path) < 0 ? -errno : 0;
	(void)unlink(before->sun_path);
	return r;
}

/* A recording in another pid namespace may have our number: then ours has a letter after it. */
static int take_name(const char *directory, struct control_server *server)
{
	int r = -EEXIST;

	for (int letter = 'a' - 1; r == -EEXIST && letter <= 'z'; letter++) {
		_cleanup_fd_ int fd =
			socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		const char *mark = letter < 'a' ? "" : (char[]){(char)letter, '\0'};
		struct sockaddr_un before;
		struct sockaddr_un address;

		if (fd < 0)
			return -errno;
		name_ours(&before, directory, mark, ".new");
		name_ours(&address, directory, mark, ".control");
		r = listen_as(fd, &before, &address);
		if (r < 0)
			continue;
		(void)snprintf(server->path, sizeof(server->path), "%s", address.sun_path);
		server->fd = steal_fd(&fd);
	}
	return r;
}

int control_server_open(struct control_server *server, struct err *err)
{
	char directory[PATH_BYTES];
	int place = control_directory_make(directory, err);
	int r;

	if (place < 0)
		return place;
	sweep(directory);
	r = take_name(directory, server);
	if (r < 0)
		return err_set(err, -r, "make a socket in '%s'", directory);
	server->open = true;
	return place;
}

static void drop(struct control_client *client)
{
	(void)close(client->fd);
	*client = (struct control_client){.stage = CLIENT_FREE};
}

/* The directory excludes other users; this is for a directory that was opened to them. */
static bool may_ask(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
	       (peer.uid == geteuid() || peer.uid == 0);
}

static struct control_client *free_place(struct control_server *server)
{
	for (size_t i = 0; i < CONTROL_CLIENTS; i++)
		if (server->clients[i].stage == CLIENT_FREE)
			return &server->clients[i];
	return NULL;
}

/* accept4() makes a socket before it checks for a client. */
static bool client_waits(int fd)
{
	struct pollfd asked = {.fd = fd, .events = POLLIN};

	return poll(&asked, 1, 0) > 0;
}

/* Without a free slot, new clients wait in the kernel's queue. */
static void admit(struct control_server *server, uint64_t now_ns)
{
	struct control_client *client;

	while (client_waits(server->fd) && (client = free_place(server))) {
		int fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			return;
		*client = (struct control_client){.stage = CLIENT_SILENT,
						  .fd = fd,
						  .refused = !may_ask(fd),
						  .deadline_ns = now_ns + SILENCE_NS};
	}
}

static bool request_holds(const struct control_request *request, ssize_t len)
{
	return len == (ssize_t)sizeof(*request) && request->magic == CONTROL_MAGIC &&
	       request->version == CONTROL_VERSION && request->verb >= CONTROL_START &&
	       request->verb < CONTROL_VERBS && request->pid > 0;
}

/* Only after the request was read: otherwise the close would discard the reply. */
static void refuse(struct control_client *client)
{
	struct control_reply reply = {.result = CONTROL_REFUSED};

	(void)snprintf(reply.text, sizeof(reply.text), "the recording belongs to another user");
	control_server_answer(client, &reply);
}

/* Return: whether a permitted request has come. */
static bool listen_to(struct control_client *client, uint64_t now_ns)
{
	/* One byte more, to see a message that is too long. */
	unsigned char bytes[sizeof(client->request) + 1];
	ssize_t n = recv(client->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		if (client->deadline_ns <= now_ns)
			drop(client);
		return false;
	}
	if (n > 0)
		memcpy(&client->request, bytes, sizeof(client->request));
	if (!request_holds(&client->request, n)) {
		drop(client);
		return false;
	}
	client->stage = CLIENT_WAITING;
	client->barrier = UINT64_MAX;
	if (client->refused)
		refuse(client);
	return client->stage == CLIENT_WAITING;
}

struct control_client *control_server_take(struct control_server *server, uint64_t now_ns)
{
	if (!server->open)
		return NULL;
	admit(server, now_ns);
	for (size_t i = 0; i < CONTROL_CLIENTS; i++)
		if (server->clients[i].stage == CLIENT_SILENT &&
		    listen_to(&server->clients[i], now_ns))
			return &server->clients[i];
	return NULL;
}

struct control_client *control_server_next(struct control_server *server, uint64_t barrier)
{
	for (size_t i = 0; server->open && i < CONTROL_CLIENTS; i++)
		if (server->clients[i].stage == CLIENT_WAITING &&
		    server->clients[i].barrier <= barrier)
			return &server->clients[i];
	return NULL;
}

void control_server_hold(struct control_client *client, const struct control_reply *reply)
{
	client->stage = CLIENT_HELD;
	client->reply = *reply;
}

struct control_client *control_server_held(struct control_server *server)
{
	for (size_t i = 0; server->open && i < CONTROL_CLIENTS; i++)
		if (server->clients[i].stage == CLIENT_HELD)
			return &server->clients[i];
	return NULL;
}

bool control_server_is_busy(const struct control_server *server)
{
	for (size_t i = 0; server->open && i < CONTROL_CLIENTS; i++)
		if (server->clients[i].stage != CLIENT_FREE)
			return true;
	return false;
}

/* FD: goes with it; -1: nothing does */
static void answer(struct control_client *client, struct control_reply *reply, int fd)
{
	reply->magic = CONTROL_MAGIC;
	reply->version = CONTROL_VERSION;
	reply->wick_pid = getpid();
	(void)control_rows_send(client->fd, reply, sizeof(*reply), fd);
	drop(client);
}

void control_server_answer(struct control_client *client, struct control_reply *reply)
{
	answer(client, reply, -1);
}

void control_server_answer_rows(struct control_client *client, struct control_reply *reply,
				const struct buf *rows)
{
	_cleanup_fd_ int fd = control_rows_share(rows);

	if (fd < 0) {
		reply->result = CONTROL_FAILED;
		(void)snprintf(reply->text, sizeof(reply->text),
			       "there is no memory for the answer");
	}
	answer(client, reply, fd < 0 ? -1 : fd);
}

void control_server_close(struct control_server *server)
{
	if (!server->open)
		return;
	for (size_t i = 0; i < CONTROL_CLIENTS; i++)
		if (server->clients[i].stage != CLIENT_FREE)
			drop(&server->clients[i]);
	(void)close(server->fd);
	(void)unlink(server->path);
	*server = (struct control_server){0};
}
