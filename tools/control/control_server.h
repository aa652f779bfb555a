/* control_server.h - a recording's socket: who may ask, what they ask, and the answer */
#ifndef CONTROL_CONTROL_SERVER_H
#define CONTROL_CONTROL_SERVER_H

#include "base/err.h"
#include "tools/control/control_wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/un.h>

enum { CONTROL_CLIENTS = 8 };

enum control_stage {
	CLIENT_FREE,
	CLIENT_SILENT,  /* it has connected and said nothing */
	CLIENT_WAITING, /* it waits for the answer */
	CLIENT_HELD,    /* the answer waits for the file that it names */
};

struct control_client {
	enum control_stage stage;
	int fd;
	bool refused;         /* it is another user */
	uint64_t deadline_ns; /* CLIENT_SILENT: it is dropped then */
	uint64_t mark;        /* CLIENT_WAITING: its answer is due at this mark */
	struct control_request request;
	struct control_reply reply; /* CLIENT_HELD */
};

/* Zero it; control_server_close() takes any state. */
struct control_server {
	bool open;
	int fd;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	struct control_client clients[CONTROL_CLIENTS];
};

/**
 * control_server_open - a socket that clients of this user can find
 *
 * Return:  0; 1: it stands elsewhere than usual, and ERR says why; -errno and the reason.
 * Context: main thread, as for all of these.
 */
int control_server_open(struct control_server *server, struct err *err);

/**
 * control_server_take - the next request of those that have come; never waits
 *
 * Who is neither this user nor root, says too little or too much, or says nothing for a second, is
 * dropped.
 *
 * Return:  the client, now CLIENT_WAITING; NULL: nothing has come.
 * Owns:    the server, until control_server_answer().
 * Context: main thread.
 */
struct control_client *control_server_take(struct control_server *server, uint64_t now_ns);

/**
 * control_server_next - a client that waits for a mark up to MARK
 *
 * Return:  the client; NULL: there is none.
 * Context: main thread.
 */
struct control_client *control_server_next(struct control_server *server, uint64_t mark);

/**
 * control_server_hold - keep an answer back
 *
 * Context: main thread.
 */
void control_server_hold(struct control_client *client, const struct control_reply *reply);

/**
 * control_server_held - a client whose answer is kept back
 *
 * Return:  the client; NULL: there is none.
 * Context: main thread.
 */
struct control_client *control_server_held(struct control_server *server);

/**
 * control_server_is_busy - whether anybody waits for anything
 *
 * Context: main thread.
 */
bool control_server_is_busy(const struct control_server *server);

/**
 * control_server_answer - tell a client, and let go of it
 *
 * Context: main thread.
 */
void control_server_answer(struct control_client *client, struct control_reply *reply);

/**
 * control_server_close - let go of everybody, and be found no more
 *
 * Context: main thread.
 */
void control_server_close(struct control_server *server);

#endif
