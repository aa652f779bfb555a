/*
 * event_server.c - a server of lines on libevent whose callbacks, requests and tiers wick counts
 *
 *	event_server PORT
 *	wick record -- event_server 7000       and, beside it: wick tasks -p $(pidof event_server)
 *
 * Each line that a client sends is a request: it is looked up and computed (two tiers), and
 * answered.  SIGTERM and Ctrl-C end it.
 */
#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <wick_event.h>

static unsigned compute(const char *line)
{
	unsigned hash = 5381;

	for (int round = 0; round < 20000; round++)
		for (const char *c = line; *c; c++)
			hash = hash * 33 + (unsigned char)*c;
	return hash;
}

static void on_read(struct bufferevent *client, void *arg)
{
	struct evbuffer *input = bufferevent_get_input(client);
	struct wick_request request;
	unsigned hash = 0;
	char *line;

	(void)arg;
	while ((line = evbuffer_readln(input, NULL, EVBUFFER_EOL_CRLF))) {
		wick_request_begin(&request, line[0] == 'p' ? "put" : "get");
		WICK_TIER("compute")
		{
			hash = compute(line);
		}
		WICK_TIER("answer")
		{
			(void)evbuffer_add_printf(bufferevent_get_output(client), "%08x\n", hash);
		}
		wick_request_end(&request);
		free(line);
	}
}

static void on_event(struct bufferevent *client, short what, void *arg)
{
	(void)arg;
	if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
		wick_bufferevent_free(client);
}

static void on_connection(evutil_socket_t listener, short what, void *arg)
{
	evutil_socket_t fd = accept(listener, NULL, NULL);
	struct bufferevent *client =
		fd < 0 ? NULL : bufferevent_socket_new(arg, fd, BEV_OPT_CLOSE_ON_FREE);

	(void)what;
	if (!client)
		return;
	(void)evutil_make_socket_nonblocking(fd);
	wick_bufferevent_setcb(client, on_read, NULL, on_event, NULL);
	(void)bufferevent_enable(client, EV_READ | EV_WRITE);
}

static void on_end(evutil_socket_t number, short what, void *arg)
{
	(void)number;
	(void)what;
	(void)event_base_loopbreak(arg);
}

static evutil_socket_t listen_on(int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	evutil_socket_t fd = socket(AF_INET, SOCK_STREAM, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || evutil_make_listen_socket_reuseable(fd) != 0 ||
	    evutil_make_socket_nonblocking(fd) != 0 ||
	    bind(fd, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(fd, 128) != 0)
		return -1;
	return fd;
}

int main(int argc, char **argv)
{
	struct event_base *base = event_base_new();
	evutil_socket_t fd = argc == 2 ? listen_on((int)strtol(argv[1], NULL, 10)) : -1;
	struct event *listener, *ends[2];

	if (!base || fd < 0) {
		(void)fprintf(stderr, "usage: event_server PORT (that nothing else listens on)\n");
		return 2;
	}
	listener = wick_event_new(base, fd, EV_READ | EV_PERSIST, on_connection, base);
	if (!listener || event_add(listener, NULL) != 0)
		return 1;
	for (int i = 0; i < 2; i++) {
		ends[i] = wick_evsignal_new(base, i ? SIGTERM : SIGINT, on_end, base);
		if (!ends[i] || event_add(ends[i], NULL) != 0)
			return 1;
	}
	(void)event_base_dispatch(base);
	wick_event_free(listener);
	wick_event_free(ends[0]);
	wick_event_free(ends[1]);
	event_base_free(base);
	return 0;
}
