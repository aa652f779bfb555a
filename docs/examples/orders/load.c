/* load.c - a client of service.c: sends REQUESTS over some connections, and checks the answers
 *
 *	cc -O2 -g $(pkg-config --cflags wick) load.c -o load -lpthread
 *	./load SOCKET REQUESTS [CONNECTIONS]
 *
 * Each request is one of the client, too; its traceparent makes the service's a part of it.  Prints
 * how many there were of each kind as JSON.
 */
#define _GNU_SOURCE
#include <wick.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MOST_CONNECTIONS = 64, TEXT_BYTES = 70000 };

struct client {
	pthread_t thread;
	const char *path;
	long first, step, end; /* numbers of its requests */
	long sent[3];
};

static void fail(const char *what)
{
	(void)fprintf(stderr, "load: %s: %m\n", what);
	_exit(1);
}

static int connected(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		fail(path);
	return fd;
}

/* Reads one answer. */
static void receive(int fd, char *text)
{
	size_t n = 0, wanted = 0;

	do {
		ssize_t got = read(fd, text + n, TEXT_BYTES - n);
		const char *body;

		if (got <= 0)
			fail("answer");
		n += (size_t)got;
		text[n] = '\0';
		body = strstr(text, "\r\n\r\n");
		if (body && !wanted)
			wanted = (size_t)(body + 4 - text) +
				 strtoul(strcasestr(text, "\r\nContent-Length:") +
						 strlen("\r\nContent-Length:"),
					 NULL, 10);
	} while (!wanted || n < wanted);
	if (strncmp(text, "HTTP/1.1 200 ", 13) != 0 || n != wanted) {
		errno = EPROTO;
		fail("answer");
	}
}

static void ask(struct client *client, int fd, long number, char *text)
{
	const int kind = number % 10 < 7 ? 0 : number % 10 < 9 ? 1 : 2;
	struct wick_request request;
	struct wick_context context;
	char traceparent[56], target[64];
	int n;

	if (kind == 2)
		(void)snprintf(target, sizeof(target), "/report");
	else
		(void)snprintf(target, sizeof(target), kind == 0 ? "/orders/%ld" : "/customers/%ld",
			       1 + number * 7919 % (kind == 0 ? 2000 : 100));
	wick_request_begin(&request, "load");
	context = wick_context_get();
	wick_traceparent_write(&context, traceparent);
	n = snprintf(text, TEXT_BYTES, "GET %s HTTP/1.1\r\nHost: orders\r\ntraceparent: %s\r\n\r\n",
		     target, traceparent);
	if (send(fd, text, (size_t)n, MSG_NOSIGNAL) != n)
		fail("send");
	receive(fd, text);
	wick_request_end(&request);
	client->sent[kind]++;
}

static void *work(void *argument)
{
	struct client *client = argument;
	char *text = malloc(TEXT_BYTES + 1);
	int fd = connected(client->path);

	for (long number = client->first; text && number < client->end; number += client->step)
		ask(client, fd, number, text);
	close(fd);
	free(text);
	return NULL;
}

int main(int argc, char **argv)
{
	const long n = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	const long n_clients = argc > 3 ? strtol(argv[3], NULL, 10) : 8;
	static struct client clients[MOST_CONNECTIONS];
	long sent[3] = {0, 0, 0};

	if (argc < 3 || n <= 0 || n_clients <= 0 || n_clients > MOST_CONNECTIONS) {
		(void)fprintf(stderr, "usage: load SOCKET REQUESTS [CONNECTIONS]\n");
		return 2;
	}
	for (long i = 0; i < n_clients; i++) {
		clients[i] =
			(struct client){.path = argv[1], .first = i, .step = n_clients, .end = n};
		if (pthread_create(&clients[i].thread, NULL, work, &clients[i]) != 0)
			fail("pthread_create");
	}
	for (long i = 0; i < n_clients; i++) {
		pthread_join(clients[i].thread, NULL);
		for (int kind = 0; kind < 3; kind++)
			sent[kind] += clients[i].sent[kind];
	}
	(void)printf("{\"GET /orders/{id}\":%ld,\"GET /customers/{id}\":%ld,\"GET /report\":%ld}\n",
		     sent[0], sent[1], sent[2]);
	return 0;
}
