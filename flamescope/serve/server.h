/* server.h - recordings of a folder over HTTP, for one person and his browser */
#ifndef SERVE_SERVER_H
#define SERVE_SERVER_H

#include "base/err.h"
#include "flamescope/serve/guard.h"

#include <stdint.h>

enum {
	SERVER_CONNECTIONS = 512, /* at most; fewer where the system allows few descriptors */
	SERVER_IDLE_S = 15,       /* without a byte either way */
};

struct server_options {
	const char *folder;
	struct guard guard; /* guard.listen: an address; what it points to has to outlive the server
			     */
	uint16_t port;      /* 0: any that is free */
	const char *state;  /* words of the page's URL to begin with; NULL: none */
};

struct server;

/**
 * server_start - listen, and answer in a thread of its own
 *
 * Signals that are blocked now stay blocked in the server's threads.
 *
 * Return:  0; -EADDRINUSE, -EADDRNOTAVAIL, -EACCES of bind; -EINVAL: no address; -errno of the
 *          folder; with the reason.
 * Owns:    the caller, to server_stop().
 * Context: main thread.
 */
int server_start(const struct server_options *options, struct server **ret_server, struct err *err);

/**
 * server_port - where it listens
 *
 * Context: any thread.
 */
uint16_t server_port(const struct server *server);

/**
 * server_run - look after it until a descriptor can be read
 *
 * Context: main thread.
 */
void server_run(struct server *server, int until_fd);

/**
 * server_stop - let go of everybody and end
 *
 * Context: main thread.  NULL is fine.
 */
void server_stop(struct server *server);

#endif
