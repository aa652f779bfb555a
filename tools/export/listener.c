/* listener.c - the page over HTTP, on a loopback address or a socket in the file system */
#include "tools/export/export.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
	CONNECTION_BYTES = 16 * 1024,
	HOST_BYTES = 64,
	ADDRESS_BYTES = 256,
	NS_PER_MS = 1000000,
	NS_PER_S = 1000000000,
};

/* Loaded when it is needed: it brings eight more libraries. */
#define MHD_CALLS(_)                                                                               \
	_(add_response_header)                                                                     \
	_(create_response_from_buffer)                                                             \
	_(destroy_response)                                                                        \
	_(lookup_connection_value)                                                                 \
	_(queue_response)                                                                          \
	_(start_daemon)                                                                            \
	_(stop_daemon)

struct mhd {
#define MHD_MEMBER(name) __typeof__(MHD_##name) *(name);
	MHD_CALLS(MHD_MEMBER)
#undef MHD_MEMBER
};

struct listener {
	struct mhd mhd;
	struct MHD_Daemon *daemon;
	void (*nudge)(void *context);
	void *context;
	const char *socket; /* the file that is to be removed; NULL: none */
	dev_t dev;          /* of it */
	ino_t inode;
	bool is_loopback;
	char address[ADDRESS_BYTES];
	pthread_mutex_t mutex; /* of what follows */
	pthread_cond_t given;
	bool wanted;
	bool open_metrics;
	bool ending;
	/* The newest of each format: one that asks all the time does not get a new one each time.
	 */
	struct buf pages[2];
	uint64_t made_ns[2]; /* 0: there is none */
};

static int mhd_load(struct mhd *mhd, struct err *err)
{
	/* For good: its threads may still be in it when a listener has ended. */
	void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
	bool complete = library != NULL;

#define LOAD(name)                                                                                 \
	*(void **)&mhd->name = library ? dlsym(library, "MHD_" #name) : NULL;                      \
	complete = complete && mhd->name;
	MHD_CALLS(LOAD)
#undef LOAD
	if (complete)
		return 0;
	(void)err_set(err, ENOENT, "load libmicrohttpd.so.12");
	err_hint(err, "install libmicrohttpd12");
	return -ENOENT;
}

/* Of "ADDRESS:PORT", "[ADDRESS]:PORT", ":PORT" and "PORT". */
static int split(const char *where, char host[static HOST_BYTES], const char **ret_port)
{
	const char *colon = strrchr(where, ':');
	const char *end = colon;

	*ret_port = colon ? colon + 1 : where;
	if (*where == '[') {
		where++;
		end = colon ? colon - 1 : NULL;
		if (!end || *end != ']')
			return -EINVAL;
	} else if (colon && memchr(where, ':', (size_t)(colon - where))) {
		return -EINVAL; /* an IPv6 address needs brackets */
	}
	if (!**ret_port || strspn(*ret_port, "0123456789") != strlen(*ret_port) ||
	    strlen(*ret_port) > 5 || strtoul(*ret_port, NULL, 10) > UINT16_MAX)
		return -EINVAL;
	if (end && end - where >= HOST_BYTES)
		return -EINVAL;
	(void)snprintf(host, HOST_BYTES, "%.*s", end ? (int)(end - where) : 0, where);
	if (!*host || strcmp(host, "localhost") == 0)
		(void)snprintf(host, HOST_BYTES, "127.0.0.1");
	return 0;
}

static const char *path_of(const char *where)
{
	return strncmp(where, "unix:", strlen("unix:")) == 0 ? where + strlen("unix:") : NULL;
}

static int resolve(const char *where, struct addrinfo **ret_address)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				       .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE};
	char host[HOST_BYTES];
	const char *port;

	return split(where, host, &port) < 0 || getaddrinfo(host, port, &hints, ret_address) != 0
		       ? -EINVAL
		       : 0;
}

int listener_check(const char *where, struct err *err)
{
	const char *path = path_of(where);
	struct addrinfo *address;

	if (path && *path && strlen(path) < sizeof(((struct sockaddr_un *)0)->sun_path))
		return 0;
	if (path || resolve(where, &address) < 0)
		return err_set(err, 0, "'%s' is no address, try: 127.0.0.1:9464 or unix:PATH",
			       where);
	freeaddrinfo(address);
	return 0;
}

/* Of a recording that was killed: nobody has it open. */
static bool is_left(const struct sockaddr_un *address)
{
	/* Somebody else's may have a full queue: no waiting for it. */
	_cleanup_fd_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat stat;

	return lstat(address->sun_path, &stat) == 0 && S_ISSOCK(stat.st_mode) && fd >= 0 &&
	       connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 &&
	       errno == ECONNREFUSED;
}

static int bind_path(const char *path)
{
	_cleanup_fd_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (fd < 0)
		return -errno;
	memcpy(address.sun_path, path, strlen(path) + 1); /* listener_check() */
	if (is_left(&address))
		(void)unlink(path);
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return steal_fd(&fd);
}

static int bind_address(const struct addrinfo *address)
{
	_cleanup_fd_ int fd =
		socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, address->ai_addr, address->ai_addrlen) < 0)
		return -errno;
	return steal_fd(&fd);
}

/* As the kernel chose it: a port of 0 is any. */
static void describe(struct listener *listener, int fd)
{
	struct sockaddr_storage address;
	socklen_t len = sizeof(address);
	char host[HOST_BYTES];
	char port[8];

	if (getsockname(fd, (struct sockaddr *)&address, &len) == 0 &&
	    getnameinfo((const struct sockaddr *)&address, len, host, sizeof(host), port,
			sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) == 0)
		(void)snprintf(listener->address, sizeof(listener->address),
			       strchr(host, ':') ? "http://[%s]:%s/metrics"
						 : "http://%s:%s/metrics",
			       host, port);
}

bool listener_takes_host(const char *host)
{
	char name[HOST_BYTES];
	char ours[HOST_BYTES] = "";
	struct in6_addr address;
	size_t len = strcspn(host, ":");

	if (*host == '[') {
		len = strcspn(host, "]");
		if (!host[len])
			return false;
		host++;
		len--;
	}
	if (len == 0 || len >= sizeof(name))
		return false;
	memcpy(name, host, len);
	name[len] = '\0';
	(void)gethostname(ours, sizeof(ours) - 1);
	return inet_pton(AF_INET, name, &address) == 1 ||
	       inet_pton(AF_INET6, name, &address) == 1 || strcasecmp(name, "localhost") == 0 ||
	       strcasecmp(name, ours) == 0;
}

static bool is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(
			&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
	return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 ==
	       IN_LOOPBACKNET;
}

static void remember_file(struct listener *listener, const char *path)
{
	struct stat stat;

	if (lstat(path, &stat) < 0)
		return;
	listener->socket = path;
	listener->dev = stat.st_dev;
	listener->inode = stat.st_ino;
}

static void remove_file(const struct listener *listener)
{
	struct stat stat;

	if (lstat(listener->socket, &stat) == 0 && S_ISSOCK(stat.st_mode) &&
	    stat.st_dev == listener->dev && stat.st_ino == listener->inode)
		(void)unlink(listener->socket);
}

static int open_socket(struct listener *listener, const char *where, struct err *err)
{
	const char *path = path_of(where);
	struct addrinfo *address = NULL;
	int fd;

	if (listener_check(where, err) < 0)
		return -EINVAL;
	if (path) {
		fd = bind_path(path);
		(void)snprintf(listener->address, sizeof(listener->address), "/metrics of %s",
			       where);
		if (fd >= 0)
			remember_file(listener, path);
	} else {
		fd = resolve(where, &address) < 0 ? -EINVAL : bind_address(address);
		listener->is_loopback = address && is_loopback(address->ai_addr);
		if (address)
			freeaddrinfo(address);
		if (fd >= 0)
			describe(listener, fd);
	}
	if (fd < 0) {
		(void)err_set(err, -fd, "listen at '%s'", where);
		if (fd == -EADDRINUSE)
			err_hint(err, path ? "another path"
					   : "another port; ss -ltnp shows which program has it");
		return fd;
	}
	if (listen(fd, LISTENER_CLIENTS) < 0) {
		(void)close(fd);
		return err_set(err, errno, "listen at '%s'", where);
	}
	return fd;
}

static bool is_new(const struct listener *listener, bool open_metrics)
{
	uint64_t made_ns = listener->made_ns[open_metrics];

	return made_ns && io_now_ns() - made_ns < (uint64_t)LISTENER_AGAIN_MS * NS_PER_MS;
}

/* With the mutex: until the main thread has made the page. */
static void wait_for_page(struct listener *listener, bool open_metrics)
{
	struct timespec until;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += LISTENER_WAIT_MS / 1000;
	listener->wanted = true;
	listener->open_metrics = open_metrics;
	listener->nudge(listener->context);
	while (!listener->ending && listener->wanted)
		if (pthread_cond_timedwait(&listener->given, &listener->mutex, &until) == ETIMEDOUT)
			break;
	listener->wanted = false;
}

/* Return: false: the main thread has not made it in time. */
static bool get_page(struct listener *listener, bool open_metrics, struct buf *page)
{
	const struct buf *made = &listener->pages[open_metrics];
	bool has_page;

	(void)pthread_mutex_lock(&listener->mutex);
	if (!is_new(listener, open_metrics)) {
		listener->made_ns[open_metrics] = 0;
		wait_for_page(listener, open_metrics);
	}
	has_page = listener->made_ns[open_metrics] && buf_append(page, made->data, made->len) == 0;
	(void)pthread_mutex_unlock(&listener->mutex);
	return has_page;
}

static enum MHD_Result answer(const struct listener *listener, struct MHD_Connection *connection,
			      unsigned status, const char *type, const struct buf *text)
{
	const struct mhd *mhd = &listener->mhd;
	struct MHD_Response *response =
		mhd->create_response_from_buffer(text->len, text->data, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result r;

	if (!response)
		return MHD_NO;
	(void)mhd->add_response_header(response, "Content-Type", type);
	(void)mhd->add_response_header(response, "Cache-Control", "no-store");
	(void)mhd->add_response_header(response, "X-Content-Type-Options", "nosniff");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		(void)mhd->add_response_header(response, "Allow", "GET, HEAD");
	r = mhd->queue_response(connection, status, response);
	mhd->destroy_response(response);
	return r;
}

static enum MHD_Result say(const struct listener *listener, struct MHD_Connection *connection,
			   unsigned status, const char *text)
{
	struct buf line;
	enum MHD_Result r;

	buf_init(&line, ADDRESS_BYTES);
	buf_printf(&line, "%s\n", text);
	r = answer(listener, connection, status, "text/plain; charset=utf-8", &line);
	buf_release(&line);
	return r;
}

static enum MHD_Result answer_page(struct listener *listener, struct MHD_Connection *connection)
{
	const char *accept = listener->mhd.lookup_connection_value(connection, MHD_HEADER_KIND,
								   MHD_HTTP_HEADER_ACCEPT);
	bool open_metrics = accept && strstr(accept, "application/openmetrics-text");
	struct buf page;
	enum MHD_Result r;

	buf_init(&page, PAGE_BYTES);
	if (get_page(listener, open_metrics, &page))
		r = answer(listener, connection, MHD_HTTP_OK,
			   open_metrics
				   ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
				   : "text/plain; version=0.0.4; charset=utf-8",
			   &page);
	else
		r = say(listener, connection, MHD_HTTP_SERVICE_UNAVAILABLE, "wick is busy or ends");
	buf_release(&page);
	return r;
}

static enum MHD_Result respond(struct listener *listener, struct MHD_Connection *connection,
			       const char *url, const char *method)
{
	const char *host = listener->mhd.lookup_connection_value(connection, MHD_HEADER_KIND,
								 MHD_HTTP_HEADER_HOST);

	if (listener->is_loopback && host && !listener_takes_host(host))
		return say(listener, connection, MHD_HTTP_FORBIDDEN, "this is no name of mine");
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return say(listener, connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET /metrics");
	if (strcmp(url, "/metrics") == 0)
		return answer_page(listener, connection);
	return say(listener, connection, strcmp(url, "/") == 0 ? MHD_HTTP_OK : MHD_HTTP_NOT_FOUND,
		   "wick record: /metrics");
}

/* NOLINTNEXTLINE(readability-function-size): the library's own signature */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *body,
				  size_t *body_len, void **request)
{
	struct listener *listener = context;
	static int seen;

	(void)version;
	(void)body;
	if (!*request) { /* its headers are here; a body is not taken */
		*request = &seen;
		return MHD_YES;
	}
	if (*body_len) {
		*body_len = 0;
		return MHD_YES;
	}
	return respond(listener, connection, url, method);
}

static int start_daemon(struct listener *listener, int fd, struct err *err)
{
	const struct MHD_OptionItem items[] = {
		{MHD_OPTION_LISTEN_SOCKET, fd, NULL},
		{MHD_OPTION_CONNECTION_LIMIT, LISTENER_CLIENTS, NULL},
		{MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_BYTES, NULL},
		{MHD_OPTION_CONNECTION_TIMEOUT, LISTENER_IDLE_S, NULL},
		{MHD_OPTION_END, 0, NULL},
	};
	sigset_t all;
	sigset_t before;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	listener->daemon =
		listener->mhd.start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, on_request,
					   listener, MHD_OPTION_ARRAY, items, MHD_OPTION_END);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return listener->daemon ? 0 : err_set(err, ENOMEM, "start the server of --listen");
}

static void init_locks(struct listener *listener)
{
	pthread_condattr_t attributes;

	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_mutex_init(&listener->mutex, NULL);
	(void)pthread_cond_init(&listener->given, &attributes);
	(void)pthread_condattr_destroy(&attributes);
}

int listener_new(const char *where, void (*nudge)(void *context), void *context,
		 struct listener **ret_listener, struct err *err)
{
	struct listener *listener = calloc(1, sizeof(*listener));
	int r;
	int fd;

	if (!listener)
		return err_set(err, ENOMEM, "listen at '%s'", where);
	init_locks(listener);
	buf_init(&listener->pages[0], PAGE_BYTES);
	buf_init(&listener->pages[1], PAGE_BYTES);
	listener->nudge = nudge;
	listener->context = context;
	r = mhd_load(&listener->mhd, err);
	fd = r < 0 ? r : open_socket(listener, where, err);
	r = fd < 0 ? fd : start_daemon(listener, fd, err);
	if (r < 0) {
		if (fd >= 0)
			(void)close(fd);
		listener_free(listener);
		return r;
	}
	*ret_listener = listener;
	return 0;
}

bool listener_wanted(struct listener *listener, bool *ret_open_metrics)
{
	bool wanted;

	(void)pthread_mutex_lock(&listener->mutex);
	wanted = listener->wanted;
	*ret_open_metrics = listener->open_metrics;
	(void)pthread_mutex_unlock(&listener->mutex);
	return wanted;
}

void listener_give(struct listener *listener, const struct buf *page)
{
	struct buf *made;

	(void)pthread_mutex_lock(&listener->mutex);
	made = &listener->pages[listener->open_metrics];
	buf_clear(made);
	listener->made_ns[listener->open_metrics] =
		page && !page->failed && buf_append(made, page->data, page->len) == 0 ? io_now_ns()
										      : 0;
	listener->wanted = false;
	(void)pthread_cond_broadcast(&listener->given);
	(void)pthread_mutex_unlock(&listener->mutex);
}

const char *listener_address(const struct listener *listener)
{
	return listener->address;
}

void listener_free(struct listener *listener)
{
	if (!listener)
		return;
	(void)pthread_mutex_lock(&listener->mutex);
	listener->ending = true;
	(void)pthread_cond_broadcast(&listener->given);
	(void)pthread_mutex_unlock(&listener->mutex);
	if (listener->daemon)
		listener->mhd.stop_daemon(listener->daemon); /* and closes the socket */
	if (listener->socket)
		remove_file(listener);
	buf_release(&listener->pages[0]);
	buf_release(&listener->pages[1]);
	(void)pthread_cond_destroy(&listener->given);
	(void)pthread_mutex_destroy(&listener->mutex);
	free(listener);
}
