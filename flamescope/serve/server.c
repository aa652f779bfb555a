/* server.c - the daemon of libmicrohttpd, and which requests it refuses */
#include "flamescope/serve/serve.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "flamescope/serve/api.h"
#include "flamescope/serve/packs.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>

struct mhd mhd;

static void *find(void *library, const char *name, bool *complete)
{
	void *call = library ? dlsym(library, name) : NULL;

	*complete = *complete && call;
	return call;
}

/* Before any call. Returns 0; -ENOENT: the library is not there, or is too old. */
static int mhd_load(struct err *err)
{
	/* For good: its threads may still be in it when a server has stopped. */
	void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
	bool complete = true;

#define LOAD(name) *(void **)&mhd.name = find(library, "MHD_" #name, &complete);
	MHD_CALLS(LOAD)
#undef LOAD
	if (complete)
		return 0;
	(void)err_set(err, ENOENT, "load libmicrohttpd.so.12");
	err_hint(err, "install libmicrohttpd12");
	return -ENOENT;
}

enum {
	CLIENT_REQUEST_S = 20, /* for a request to arrive as a whole */
	CLIENT_ANSWER_S = 900, /* for an answer to be taken */
};

#define NS_PER_S UINT64_C(1000000000)

struct client {
	int fd;
	bool is_busy;  /* now */
	bool is_ended; /* has been shut down: the library closes it */
	uint64_t since_ns;
	struct client *previous;
	struct client *next;
};

struct list {
	struct client *first;
	struct client *last;
};

struct clients {
	pthread_mutex_t mutex;
	size_t max_clients;
	size_t n;
	struct list idle; /* no request is being answered */
	struct list busy;
};

/* No client, and at most MAX_CLIENTS. */
static struct clients *clients_new(size_t max_clients)
{
	struct clients *clients = calloc(1, sizeof(*clients));

	if (!clients)
		return NULL;
	clients->max_clients = max_clients;
	(void)pthread_mutex_init(&clients->mutex, NULL);
	return clients;
}

static struct list *list_of(struct clients *clients, const struct client *client)
{
	return client->is_busy ? &clients->busy : &clients->idle;
}

static void take_out(struct clients *clients, struct client *client)
{
	struct list *list = list_of(clients, client);

	*(client->previous ? &client->previous->next : &list->first) = client->next;
	*(client->next ? &client->next->previous : &list->last) = client->previous;
}

static void put_last(struct clients *clients, struct client *client, bool is_busy)
{
	struct list *list;

	client->is_busy = is_busy;
	client->since_ns = io_now_ns();
	list = list_of(clients, client);
	client->previous = list->last;
	client->next = NULL;
	*(list->last ? &list->last->next : &list->first) = client;
	list->last = client;
}

/* The library notices, and closes it; until then the descriptor is ours. */
static void end(struct client *client)
{
	if (!client->is_ended)
		(void)shutdown(client->fd, SHUT_RDWR);
	client->is_ended = true;
}

/* Of the idle ones, the oldest that has not been ended yet. */
static void end_oldest(struct clients *clients)
{
	for (struct client *client = clients->idle.first; client; client = client->next) {
		if (client->is_ended)
			continue;
		end(client);
		return;
	}
}

/* A connection has been accepted. */
static struct client *clients_add(struct clients *clients, int fd)
{
	struct client *client = calloc(1, sizeof(*client));

	if (!client)
		return NULL;
	client->fd = fd;
	(void)pthread_mutex_lock(&clients->mutex);
	/* A quarter of the places is left for connections that are being closed. */
	if (++clients->n > clients->max_clients / 4 * 3)
		end_oldest(clients);
	put_last(clients, client, false);
	(void)pthread_mutex_unlock(&clients->mutex);
	return client;
}

/* A connection will be closed now. */
static void clients_remove(struct clients *clients, struct client *client)
{
	if (!client)
		return;
	(void)pthread_mutex_lock(&clients->mutex);
	take_out(clients, client);
	clients->n--;
	(void)pthread_mutex_unlock(&clients->mutex);
	free(client);
}

static void move(struct clients *clients, struct client *client, bool is_busy)
{
	if (!client)
		return;
	(void)pthread_mutex_lock(&clients->mutex);
	take_out(clients, client);
	put_last(clients, client, is_busy);
	(void)pthread_mutex_unlock(&clients->mutex);
}

static void end_before(const struct list *list, uint64_t now_ns, uint64_t limit_ns)
{
	for (struct client *client = list->first; client && now_ns - client->since_ns > limit_ns;
	     client = client->next)
		end(client);
}

/* End those that take too long. */
static void clients_end_slow(struct clients *clients)
{
	uint64_t now_ns;

	(void)pthread_mutex_lock(&clients->mutex);
	now_ns = io_now_ns();
	end_before(&clients->idle, now_ns, CLIENT_REQUEST_S * NS_PER_S);
	end_before(&clients->busy, now_ns, CLIENT_ANSWER_S * NS_PER_S);
	(void)pthread_mutex_unlock(&clients->mutex);
}

/* Free them. */
static void clients_free(struct clients *clients)
{
	if (!clients)
		return;
	(void)pthread_mutex_destroy(&clients->mutex);
	free(clients);
}

enum {
	/* Of a connection: its headers, and URLs that name many files. */
	CONNECTION_BYTES = 128 * 1024,
	BACKLOG = 1024,
	SCAN_MS = 250,
};

struct server {
	struct guard guard;
	struct api *api;
	struct clients *clients;
	struct MHD_Daemon *daemon;
	uint16_t port;
};

/* An address and a port as bind() takes them. */
struct place {
	union {
		struct sockaddr any;
		struct sockaddr_in four;
		struct sockaddr_in6 six;
	};
	socklen_t len;
};

static int place_of(const char *address, uint16_t port, struct place *ret_place)
{
	*ret_place = (struct place){0};
	if (inet_pton(AF_INET, address, &ret_place->four.sin_addr) == 1) {
		ret_place->four.sin_family = AF_INET;
		ret_place->four.sin_port = htons(port);
		ret_place->len = sizeof(ret_place->four);
		return 0;
	}
	if (inet_pton(AF_INET6, address, &ret_place->six.sin6_addr) == 1) {
		ret_place->six.sin6_family = AF_INET6;
		ret_place->six.sin6_port = htons(port);
		ret_place->len = sizeof(ret_place->six);
		return 0;
	}
	return -EINVAL;
}

static int refuse_place(const char *address, uint16_t port, int code, struct err *err)
{
	(void)err_set(err, code, "listen at '%s' port %u", address, port);
	if (code == EADDRINUSE)
		err_hint(err, "without --port, which takes any that is free");
	else if (code == EADDRNOTAVAIL)
		err_hint(err, "--listen 127.0.0.1, or an address that ip addr lists");
	else if (code == EACCES)
		err_hint(err, "--port 8642: ports below 1024 need root");
	return -code;
}

static int listen_at(const char *address, uint16_t port, uint16_t *ret_port, struct err *err)
{
	struct place place;
	_cleanup_fd_ int fd = -1;
	const int on = 1;

	if (place_of(address, port, &place) < 0)
		return err_set(err, 0, "'%s' is no address, try: --listen 127.0.0.1", address);
	fd = socket(place.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_set(err, errno, "make a socket");
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, &place.any, place.len) < 0 || listen(fd, BACKLOG) < 0)
		return refuse_place(address, port, errno, err);
	if (getsockname(fd, &place.any, &place.len) < 0)
		return err_set(err, errno, "ask for the port");
	*ret_port =
		ntohs(place.any.sa_family == AF_INET ? place.four.sin_port : place.six.sin6_port);
	return steal_fd(&fd);
}

static enum MHD_Result count_host(void *context, enum MHD_ValueKind kind, const char *key,
				  const char *value)
{
	unsigned *n = context;

	(void)kind;
	(void)value;
	if (strcasecmp(key, MHD_HTTP_HEADER_HOST) == 0)
		++*n;
	return MHD_YES;
}

/* The token as the page's URLs carry it, or as scripts send it (RFC 6750 section 2.1). */
static const char *token_of(struct MHD_Connection *connection)
{
	static const char bearer[] = "Bearer ";
	const char *header = mhd.lookup_connection_value(connection, MHD_HEADER_KIND,
							 MHD_HTTP_HEADER_AUTHORIZATION);

	if (header && strncmp(header, bearer, sizeof(bearer) - 1) == 0)
		return header + sizeof(bearer) - 1;
	return mhd.lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token");
}

/* Whether a browser says that another site's page makes the request (Fetch Metadata). */
static bool is_from_elsewhere(struct MHD_Connection *connection, const char *path)
{
	const char *site =
		mhd.lookup_connection_value(connection, MHD_HEADER_KIND, "Sec-Fetch-Site");

	/* A link to the page itself may be anywhere. */
	return site && strcmp(path, "/") != 0 && strcmp(site, "same-origin") != 0 &&
	       strcmp(site, "none") != 0;
}

/* The status that a request is refused with, and why; 0: it may come in. */
static unsigned refusal(const struct server *server, struct MHD_Connection *connection,
			const char *path, const char *method, const char **ret_why)
{
	unsigned n_hosts = 0;

	(void)mhd.get_connection_values(connection, MHD_HEADER_KIND, count_host, &n_hosts);
	if (n_hosts != 1 || !guard_knows_host(&server->guard, mhd.lookup_connection_value(
								      connection, MHD_HEADER_KIND,
								      MHD_HTTP_HEADER_HOST))) {
		*ret_why = "this server has another name, try: the address that wick serve printed";
		return n_hosts == 1 ? MHD_HTTP_MISDIRECTED_REQUEST : MHD_HTTP_BAD_REQUEST;
	}
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0) {
		*ret_why = "recordings can only be read";
		return MHD_HTTP_METHOD_NOT_ALLOWED;
	}
	if (is_from_elsewhere(connection, path)) {
		*ret_why = "another site's page asks";
		return MHD_HTTP_FORBIDDEN;
	}
	if (!guard_knows_token(&server->guard, token_of(connection))) {
		*ret_why = "the token is missing or wrong, try: the whole address that wick serve "
			   "printed";
		return MHD_HTTP_FORBIDDEN;
	}
	return 0;
}

static struct client *client_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		mhd.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* libmicrohttpd calls it with the headers, again with the end of the request, and resumed. */
/* NOLINTNEXTLINE(readability-function-size): the library's own signature */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
				  const char *path, const char *method, const char *version,
				  const char *body, size_t *body_bytes, void **of_request)
{
	struct server *server = context;
	struct api_request *request = *of_request;
	const char *why = NULL;
	unsigned status;

	(void)version;
	(void)body;
	if (!request) {
		move(server->clients, client_of(connection), true);
		status = refusal(server, connection, path, method, &why);
		if (status)
			return answer_error(connection, status, why);
		*of_request = api_begin(connection);
		return *of_request ? MHD_YES : MHD_NO;
	}
	if (*body_bytes) {
		*body_bytes = 0; /* no request needs a body */
		return MHD_YES;
	}
	return api_answer(server->api, request, path);
}

static void on_answered(void *context, struct MHD_Connection *connection, void **of_request,
			enum MHD_RequestTerminationCode code)
{
	struct server *server = context;

	(void)code;
	api_end(server->api, *of_request);
	*of_request = NULL;
	move(server->clients, client_of(connection), false);
}

static void on_connection(void *context, struct MHD_Connection *connection, void **of_socket,
			  enum MHD_ConnectionNotificationCode code)
{
	struct server *server = context;
	const union MHD_ConnectionInfo *info;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		clients_remove(server->clients, *of_socket);
		*of_socket = NULL;
		return;
	}
	info = mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	*of_socket = info ? clients_add(server->clients, info->connect_fd) : NULL;
}

/* The library reports clients that break off, which is of no use to the user. */
__attribute__((format(printf, 2, 0))) static void on_log(void *context, const char *format,
							 va_list list)
{
	(void)context;
	(void)format;
	(void)list;
}

/* As many descriptors as may be; what part of them connections may take. */
static unsigned connections_of_limit(void)
{
	struct rlimit limit;
	rlim_t n;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 64;
	n = (rlim_t)SERVER_CONNECTIONS + 2 * PACKS_MAX_FILES;
	if (limit.rlim_cur < n) {
		limit.rlim_cur = limit.rlim_max < n ? limit.rlim_max : n;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
	n = limit.rlim_cur / 4;
	return n > SERVER_CONNECTIONS ? SERVER_CONNECTIONS : n < 16 ? 16 : (unsigned)n;
}

static int start_daemon(struct server *server, int listen_fd, unsigned n_connections,
			struct err *err)
{
	const struct MHD_OptionItem items[] = {
		{MHD_OPTION_EXTERNAL_LOGGER, (intptr_t)on_log, NULL},
		{MHD_OPTION_LISTEN_SOCKET, listen_fd, NULL},
		{MHD_OPTION_CONNECTION_LIMIT, n_connections, NULL},
		{MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_BYTES, NULL},
		{MHD_OPTION_CONNECTION_TIMEOUT, SERVER_IDLE_S, NULL},
		{MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)on_answered, server},
		{MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)on_connection, server},
		{MHD_OPTION_END, 0, NULL},
	};

	server->daemon = mhd.start_daemon(
		MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0,
		NULL, NULL, on_request, server, MHD_OPTION_ARRAY, items, MHD_OPTION_END);
	return server->daemon ? 0 : err_set(err, ENOMEM, "start the server");
}

int server_start(const struct server_options *options, struct server **ret_server, struct err *err)
{
	struct server *server = calloc(1, sizeof(*server));
	const unsigned n_connections = connections_of_limit();
	_cleanup_fd_ int fd = -1;
	int r;

	if (!server)
		return err_set(err, ENOMEM, "start the server");
	if (mhd_load(err) < 0) {
		free(server);
		return -ENOENT;
	}
	server->guard = options->guard;
	server->clients = clients_new(n_connections);
	r = server->clients ? api_new(options, &server->guard, &server->api, err)
			    : err_set(err, ENOMEM, "start the server");
	if (r == 0)
		r = fd = listen_at(options->guard.listen, options->port, &server->port, err);
	if (r >= 0)
		r = start_daemon(server, fd, n_connections, err);
	if (r < 0) {
		server_stop(server);
		return r;
	}
	(void)steal_fd(&fd);
	*ret_server = server;
	return 0;
}

uint16_t server_port(const struct server *server)
{
	return server->port;
}

void server_run(struct server *server, int until_fd)
{
	struct pollfd fds[] = {
		{.fd = until_fd, .events = POLLIN},
		{.fd = api_wanted_fd(server->api), .events = POLLIN},
	};

	for (;;) {
		const int n = poll(fds, sizeof(fds) / sizeof(fds[0]), SCAN_MS);

		if ((n < 0 && errno != EINTR) || (n > 0 && fds[0].revents))
			return;
		api_scan(server->api);
		clients_end_slow(server->clients);
	}
}

void server_stop(struct server *server)
{
	if (!server)
		return;
	/* First no new client, then none that waits: the library refuses to end before. */
	if (server->daemon) {
		MHD_socket fd = mhd.quiesce_daemon(server->daemon);

		api_stop(server->api);
		mhd.stop_daemon(server->daemon);
		if (fd != MHD_INVALID_SOCKET)
			(void)close(fd);
	} else if (server->api) {
		api_stop(server->api);
	}
	api_free(server->api);
	clients_free(server->clients);
	free(server);
}
