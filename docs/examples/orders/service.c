/* service.c - a small service with a queue and a database, whose requests wick can follow
 *
 *	cc -O2 -g $(pkg-config --cflags wick libpq) service.c -o service -lpq -lpthread
 *	./run 20000 wick record -o orders.perf --
 *	wick requests orders.perf
 *
 * The main thread reads requests (a little of HTTP/1.1) from a unix socket and puts them into a
 * queue.  Four workers take them out; each has a connection to postgres.  What wick.h needs stands
 * in four places: read_request(), take(), answer() and query().
 *
 * Its pid is in SOCKET.pid.  SIGTERM ends it; then it prints its own counts and times as JSON
 * (clocks.h).
 */
#define _GNU_SOURCE
#include <wick.h>

#include "clocks.h"

#include <libpq-fe.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { WORKERS = 4, CONNECTIONS = 64, REQUEST_BYTES = 2048, ANSWER_BYTES = 65536 };

/* A connection has at most one request at a time. */
struct connection {
	int fd;
	size_t n; /* bytes in text */
	char text[REQUEST_BYTES + 1];
	struct connection *next; /* in the queue, or free */

	enum identity identity;
	long id;
	struct wick_request request;
	struct wick_context context;
	struct wick_span queued;
	uint64_t begun_ns; /* the service's own clocks */
	uint64_t queued_ns;
};

struct worker {
	pthread_t thread;
	PGconn *database;
	struct clocks clocks;
	char answer[ANSWER_BYTES];
};

static const char *const statements[] = {
	"select id, customer, cents, note from orders where id = $1::int",
	"select id, customer, cents, note from orders where customer = $1::int order by id",
	("select region, count(*), sum(cents), max(note) from orders join customers on "
	 "customers.id = orders.customer where orders.id > $1::int group by region order by "
	 "region"),
};

static int epoll;
static struct connection connections[CONNECTIONS];
static struct connection *free_connections;
static struct connection *first, **last = &first; /* the queue */
static bool ends;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;

/* WHY: NULL for what errno says. */
static void fail(const char *what, const char *why)
{
	if (why)
		(void)fprintf(stderr, "service: %s: %s\n", what, why);
	else
		(void)fprintf(stderr, "service: %s: %m\n", what);
	_exit(1);
}

static void put(struct connection *connection)
{
	connection->next = NULL;
	pthread_mutex_lock(&lock);
	*last = connection;
	last = &connection->next;
	pthread_cond_signal(&filled);
	pthread_mutex_unlock(&lock);
}

/* The next request; NULL: the service ends. */
static struct connection *take(struct worker *worker)
{
	struct connection *connection;

	pthread_mutex_lock(&lock);
	while (!first && !ends)
		pthread_cond_wait(&filled, &lock);
	connection = first;
	if (connection) {
		first = connection->next;
		if (!first)
			last = &first;
	}
	pthread_mutex_unlock(&lock);
	if (!connection)
		return NULL;
	wick_span_end(&connection->queued);
	clock_add(&worker->clocks, QUEUE, connection->identity, connection->queued_ns);
	return connection;
}

/* Tells epoll to read the connection's next request. */
static void await(struct connection *connection, int operation)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = connection};

	if (epoll_ctl(epoll, operation, connection->fd, &event) != 0)
		fail("epoll_ctl", NULL);
}

/* The number behind PREFIX; false: the request begins otherwise. */
static bool is_get(const char *text, const char *prefix, long *ret_id)
{
	const size_t n = strlen(prefix);
	char *end;

	if (strncmp(text, prefix, n) != 0)
		return false;
	*ret_id = strtol(text + n, &end, 10);
	return strncmp(end, " HTTP/1.", 8) == 0;
}

/* What was asked for; false: nothing that there is. */
static bool parse(struct connection *connection)
{
	if (is_get(connection->text, "GET /orders/", &connection->id))
		connection->identity = ORDER;
	else if (is_get(connection->text, "GET /customers/", &connection->id))
		connection->identity = CUSTOMER;
	else if (is_get(connection->text, "GET /report", &connection->id))
		connection->identity = REPORT;
	else
		return false;
	return true;
}

/* Begins the request: a part of the client's trace, if the client has named it. */
static void read_request(struct connection *connection)
{
	const char *header = strcasestr(connection->text, "\r\ntraceparent:");
	struct wick_context of_client, none = wick_context_get();

	if (header) {
		header += strlen("\r\ntraceparent:");
		header += strspn(header, " ");
		if (wick_traceparent_parse(&of_client, header) == 0)
			wick_context_set(of_client);
	}
	connection->begun_ns = clock_ns(CLOCK_MONOTONIC);
	wick_request_begin(&connection->request, identity_names[connection->identity]);
	connection->context = wick_context_get();
	connection->queued_ns = clock_ns(CLOCK_MONOTONIC);
	connection->queued = wick_span_begin("queue", connection->context);
	put(connection);
	wick_context_set(none); /* this thread works for nobody again */
}

static void forget(struct connection *connection)
{
	close(connection->fd);
	connection->fd = -1;
	pthread_mutex_lock(&lock);
	connection->next = free_connections;
	free_connections = connection;
	pthread_mutex_unlock(&lock);
}

static void read_from(struct connection *connection)
{
	ssize_t n = read(connection->fd, connection->text + connection->n,
			 REQUEST_BYTES - connection->n);

	if (n <= 0) {
		forget(connection);
		return;
	}
	connection->n += (size_t)n;
	connection->text[connection->n] = '\0';
	if (strstr(connection->text, "\r\n\r\n")) {
		if (parse(connection))
			read_request(connection);
		else
			forget(connection);
	} else if (connection->n == REQUEST_BYTES) {
		forget(connection);
	} else {
		await(connection, EPOLL_CTL_MOD);
	}
}

static void add_connection(int listening)
{
	int fd = accept(listening, NULL, NULL);
	struct connection *connection;

	if (fd < 0)
		return;
	pthread_mutex_lock(&lock);
	connection = free_connections;
	if (connection)
		free_connections = connection->next;
	pthread_mutex_unlock(&lock);
	if (!connection) {
		close(fd);
		return;
	}
	connection->fd = fd;
	connection->n = 0;
	await(connection, EPOLL_CTL_ADD);
}

static PGresult *query(struct worker *worker, const struct connection *connection)
{
	char id[24];
	const char *values[] = {id};
	PGresult *rows = NULL;
	uint64_t begun_ns;

	(void)snprintf(id, sizeof(id), "%ld", connection->id);
	begun_ns = clock_ns(CLOCK_MONOTONIC);
	WICK_TIER("db")
	{
		rows = PQexecPrepared(worker->database, identity_names[connection->identity], 1,
				      values, NULL, NULL, 0);
	}
	clock_add(&worker->clocks, DB, connection->identity, begun_ns);
	if (PQresultStatus(rows) != PGRES_TUPLES_OK)
		fail("query", PQerrorMessage(worker->database));
	return rows;
}

/* The rows as text; its bytes. */
static size_t render(char *text, size_t room, const PGresult *rows)
{
	size_t n = 0;

	for (int row = 0; row < PQntuples(rows); row++) {
		for (int column = 0; column < PQnfields(rows); column++) {
			n += (size_t)snprintf(text + n, room - n, "%s%s",
					      PQgetvalue(rows, row, column),
					      column + 1 < PQnfields(rows) ? "," : "\n");
			if (n >= room)
				return room - 1;
		}
	}
	return n;
}

static void send_all(int fd, const char *text, size_t n)
{
	while (n > 0) {
		ssize_t sent = send(fd, text, n, MSG_NOSIGNAL);

		if (sent <= 0)
			return; /* the client has gone */
		text += sent;
		n -= (size_t)sent;
	}
}

static void answer(struct worker *worker, struct connection *connection)
{
	const enum identity identity = connection->identity;
	struct wick_context old = wick_context_set(connection->context);
	const uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC);

	WICK_TIER("service")
	{
		PGresult *rows = query(worker, connection);
		size_t n = render(worker->answer, sizeof(worker->answer), rows);
		char head[64];
		int head_bytes = snprintf(head, sizeof(head),
					  "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", n);

		PQclear(rows);
		send_all(connection->fd, head, (size_t)head_bytes);
		send_all(connection->fd, worker->answer, n);
	}
	clock_add(&worker->clocks, SERVICE, identity, begun_ns);
	wick_request_end(&connection->request);
	clock_add(&worker->clocks, REQUEST, identity, connection->begun_ns);
	wick_context_set(old);
	connection->n = 0;
	await(connection, EPOLL_CTL_MOD); /* from here on it is the main thread's */
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	struct connection *connection;

	while ((connection = take(worker)))
		answer(worker, connection);
	worker->clocks.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

static void begin_worker(struct worker *worker, const char *database)
{
	worker->database = PQconnectdb(database);
	if (PQstatus(worker->database) != CONNECTION_OK)
		fail("database", PQerrorMessage(worker->database));
	for (int i = 0; i < N_IDENTITIES; i++) {
		PGresult *done =
			PQprepare(worker->database, identity_names[i], statements[i], 1, NULL);

		if (PQresultStatus(done) != PGRES_COMMAND_OK)
			fail("prepare", PQerrorMessage(worker->database));
		PQclear(done);
	}
	if (pthread_create(&worker->thread, NULL, work, worker) != 0)
		fail("pthread_create", "no thread");
}

static int listen_at(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(address.sun_path))
		fail(path, "the name is too long");
	memcpy(address.sun_path, path, strlen(path) + 1);
	(void)unlink(path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(fd, CONNECTIONS) != 0)
		fail(path, NULL);
	return fd;
}

static void write_pid(const char *socket)
{
	char path[200];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s.pid", socket);
	file = fopen(path, "we");
	if (!file || fprintf(file, "%d\n", getpid()) < 0 || fclose(file) != 0)
		fail(path, NULL);
}

static void add_to_epoll(int *fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = fd};

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, *fd, &event) != 0)
		fail("epoll_ctl", NULL);
}

/* Until SIGTERM or SIGINT. */
static void serve(int listening, int signals)
{
	struct epoll_event events[16];

	add_to_epoll(&listening);
	add_to_epoll(&signals);
	for (;;) {
		int n = epoll_wait(epoll, events, 16, -1);

		for (int i = 0; i < n; i++) {
			if (events[i].data.ptr == &signals)
				return;
			if (events[i].data.ptr == &listening)
				add_connection(listening);
			else
				read_from(events[i].data.ptr);
		}
	}
}

int main(int argc, char **argv)
{
	static struct worker workers[WORKERS];
	struct clocks clocks[WORKERS];
	sigset_t set;
	int listening;

	if (argc != 3)
		fail("usage", "service SOCKET DATABASE");
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	for (int i = 0; i < CONNECTIONS; i++) {
		connections[i].next = free_connections;
		free_connections = &connections[i];
	}
	for (int i = 0; i < WORKERS; i++)
		begin_worker(&workers[i], argv[2]);
	listening = listen_at(argv[1]);
	write_pid(argv[1]);
	serve(listening, signalfd(-1, &set, SFD_CLOEXEC));

	pthread_mutex_lock(&lock);
	ends = true;
	pthread_cond_broadcast(&filled);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < WORKERS; i++) {
		pthread_join(workers[i].thread, NULL);
		PQfinish(workers[i].database);
		clocks[i] = workers[i].clocks;
	}
	clocks_print(clocks, WORKERS);
	return 0;
}
