/* server.c - libmicrohttpd's daemon, and who gets past the door */
#include "flamescope/serve/serve.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "flamescope/serve/api.h"
#include "flamescope/serve/mhd.h"
#include "flamescope/serve/packs.h"

#include <arpa/inet.h>
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

enum {
	VISITS_HEAD_S = 20,    /* for a request to arrive as a whole */
	VISITS_ANSWER_S = 900, /* for an answer to be taken */
};

struct visit;
struct visits;

#define NS_PER_S UINT64_C(1000000000)

struct visit {
	int fd;
	bool is_answered; /* now */
	bool is_ended;    /* has been shut down: the library closes it */
	uint64_t since_ns;
	struct visit *before;
	struct visit *behind;
};

struct list {
	struct visit *first;
	struct visit *last;
};

struct visits {
	pthread_mutex_t mutex;
	size_t n_places;
	size_t n;
	struct list silent; /* have not asked */
	struct list asking;
};

/* Nobody is there. */
static struct visits *visits_new(size_t n_places)
{
	struct visits *visits = calloc(1, sizeof(*visits));

	if (!visits)
		return NULL;
	visits->n_places = n_places;
	(void)pthread_mutex_init(&visits->mutex, NULL);
	return visits;
}

static struct list *list_of(struct visits *visits, const struct visit *visit)
{
	return visit->is_answered ? &visits->asking : &visits->silent;
}

static void take_out(struct visits *visits, struct visit *visit)
{
	struct list *list = list_of(visits, visit);

	*(visit->before ? &visit->before->behind : &list->first) = visit->behind;
	*(visit->behind ? &visit->behind->before : &list->last) = visit->before;
}

static void put_last(struct visits *visits, struct visit *visit, bool is_answered)
{
	struct list *list;

	visit->is_answered = is_answered;
	visit->since_ns = io_now_ns();
	list = list_of(visits, visit);
	visit->before = list->last;
	visit->behind = NULL;
	*(list->last ? &list->last->behind : &list->first) = visit;
	list->last = visit;
}

/* The library notices, and closes it; until then the descriptor is ours. */
static void end(struct visit *visit)
{
	if (!visit->is_ended)
		(void)shutdown(visit->fd, SHUT_RDWR);
	visit->is_ended = true;
}

/* Of the silent ones, the oldest that has not been ended yet. */
static void end_oldest(struct visits *visits)
{
	for (struct visit *visit = visits->silent.first; visit; visit = visit->behind) {
		if (visit->is_ended)
			continue;
		end(visit);
		return;
	}
}

/* A connection has been accepted. */
static struct visit *visits_come(struct visits *visits, int fd)
{
	struct visit *visit = calloc(1, sizeof(*visit));

	if (!visit)
		return NULL;
	visit->fd = fd;
	(void)pthread_mutex_lock(&visits->mutex);
	/* A quarter of the places is left for those who are being closed. */
	if (++visits->n > visits->n_places / 4 * 3)
		end_oldest(visits);
	put_last(visits, visit, false);
	(void)pthread_mutex_unlock(&visits->mutex);
	return visit;
}

/* A connection will be closed now. */
static void visits_go(struct visits *visits, struct visit *visit)
{
	if (!visit)
		return;
	(void)pthread_mutex_lock(&visits->mutex);
	take_out(visits, visit);
	visits->n--;
	(void)pthread_mutex_unlock(&visits->mutex);
	free(visit);
}

static void move(struct visits *visits, struct visit *visit, bool is_answered)
{
	if (!visit)
		return;
	(void)pthread_mutex_lock(&visits->mutex);
	take_out(visits, visit);
	put_last(visits, visit, is_answered);
	(void)pthread_mutex_unlock(&visits->mutex);
}

static void end_before(const struct list *list, uint64_t now_ns, uint64_t limit_ns)
{
	for (struct visit *visit = list->first; visit && now_ns - visit->since_ns > limit_ns;
	     visit = visit->behind)
		end(visit);
}

/* End those that take too long. */
static void visits_hurry(struct visits *visits)
{
	uint64_t now_ns;

	(void)pthread_mutex_lock(&visits->mutex);
	now_ns = io_now_ns();
	end_before(&visits->silent, now_ns, VISITS_HEAD_S * NS_PER_S);
	end_before(&visits->asking, now_ns, VISITS_ANSWER_S * NS_PER_S);
	(void)pthread_mutex_unlock(&visits->mutex);
}

/* Forget them. */
static void visits_free(struct visits *visits)
{
	if (!visits)
		return;
	(void)pthread_mutex_destroy(&visits->mutex);
	free(visits);
}

enum {
	/* Of a connection: its headers, and URLs that name many files. */
	CONNECTION_BYTES = 128 * 1024,
	BACKLOG = 1024,
	LOOK_MS = 250,
};

struct server {
	struct guard guard;
	struct api *api;
	struct visits *visits;
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

/* Whether a browser says that a page of somebody else asks (Fetch Metadata). */
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

static struct visit *visit_of(struct MHD_Connection *connection)
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
		move(server->visits, visit_of(connection), true);
		status = refusal(server, connection, path, method, &why);
		if (status)
			return answer_error(connection, status, why);
		*of_request = api_begin(connection);
		return *of_request ? MHD_YES : MHD_NO;
	}
	if (*body_bytes) {
		*body_bytes = 0; /* nobody asked for it */
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
	move(server->visits, visit_of(connection), false);
}

static void on_connection(void *context, struct MHD_Connection *connection, void **of_socket,
			  enum MHD_ConnectionNotificationCode code)
{
	struct server *server = context;
	const union MHD_ConnectionInfo *info;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		visits_go(server->visits, *of_socket);
		*of_socket = NULL;
		return;
	}
	info = mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	*of_socket = info ? visits_come(server->visits, info->connect_fd) : NULL;
}

/* What the library has to say is of clients that break off; nobody wants to read that. */
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
	server->visits = visits_new(n_connections);
	r = server->visits
		    ? api_new(options->folder, &server->guard, options->state, &server->api, err)
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
		const int n = poll(fds, sizeof(fds) / sizeof(fds[0]), LOOK_MS);

		if ((n < 0 && errno != EINTR) || (n > 0 && fds[0].revents))
			return;
		api_look(server->api);
		visits_hurry(server->visits);
	}
}

void server_stop(struct server *server)
{
	if (!server)
		return;
	/* First nobody new, then nobody who waits: the library refuses to end before. */
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
	visits_free(server->visits);
	free(server);
}
