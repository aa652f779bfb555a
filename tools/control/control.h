/*
 * control.h - requests to a running recording: client and server
 *
 * Context: main thread, unless a function says another.
 */
#ifndef CONTROL_CONTROL_H
#define CONTROL_CONTROL_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/un.h>

/*
 * One SOCK_SEQPACKET connection a request: a struct control_request, then a struct control_reply.
 * The receiver checks both, because any program can connect to a socket.  Rows come with the reply
 * as a descriptor (SCM_RIGHTS) of a sealed memfd, so that neither side waits for the other.
 */
#define CONTROL_MAGIC 0x6b636977U /* "wick" */

enum {
	CONTROL_VERSION = 3,
	CONTROL_COMMAND_BYTES = 64,
	CONTROL_PATH_BYTES = 1024,
	CONTROL_TEXT_BYTES = 512,
	CONTROL_ROWS_BYTES = 32 * 1024 * 1024, /* at most */
};

enum control_verb {
	CONTROL_START = 1,
	CONTROL_STOP,
	CONTROL_STATUS,
	CONTROL_RATE,
	CONTROL_FLUSH,
	CONTROL_SPLIT,
	CONTROL_TOTALS,       /* the reply has rows of exact counts with it */
	CONTROL_TOTALS_RESET, /* the same, and they are counted from zero again */
	CONTROL_VERBS,        /* one past the last */
};

struct control_request {
	uint32_t magic;
	uint16_t version;
	uint16_t verb; /* enum control_verb */
	int32_t pid;   /* a process that is recorded, or the recording's own */
	uint32_t hz;   /* CONTROL_RATE */
};

enum control_result {
	CONTROL_DONE = 1,
	CONTROL_NOT_MINE, /* PID is not recorded here */
	CONTROL_FAILED,   /* text says why */
	CONTROL_REFUSED,  /* it is another user's */
};

/* Strings are NUL-terminated. */
struct control_reply {
	uint32_t magic;
	uint16_t version;
	uint16_t result; /* enum control_result */
	int32_t wick_pid;
	int32_t pid;           /* of CMD, or of the first attached process */
	uint32_t hz;           /* weights are in periods of it */
	uint32_t effective_hz; /* signals come so often: lower for a budget */
	uint32_t pauses;       /* enum collector_pause */
	uint32_t processes;    /* that have been recorded */
	uint64_t elapsed_ns;
	uint64_t samples;
	uint64_t stood_ns;   /* what samples of a clock stand for, */
	uint64_t running_ns; /* and of it CPU */
	uint64_t lost;
	uint64_t cpu_ns; /* of what is recorded, without pauses */
	uint64_t paused_ns;
	uint64_t lowered_ns; /* for how long the rate was lower than requested */
	uint64_t files;      /* ever begun */
	uint64_t bytes;
	char command[CONTROL_COMMAND_BYTES];
	char path[CONTROL_PATH_BYTES]; /* that is being written, or was written for the request */
	char text[CONTROL_TEXT_BYTES]; /* one line: CONTROL_FAILED: why; else of the rate, or "" */
};

_Static_assert(sizeof(struct control_request) == 16, "no gaps");

enum { CONTROL_PLACES = 8 };

/* Directories, the one to make a socket in first. */
struct control_directories {
	char at[CONTROL_PLACES][sizeof(((struct sockaddr_un *)0)->sun_path)];
	size_t n;
};

/**
 * control_directories_list - where recordings of a user put their sockets
 * @uid: the caller's own, or for root another user's
 *
 * $XDG_RUNTIME_DIR/wick where that is UID's own, /run/user/UID/wick, then /tmp/wick-UID, and what
 * there is of /tmp/wick-UID.XXXXXX that is UID's and private.
 */
void control_directories_list(uid_t uid, struct control_directories *ret_places);

/**
 * control_directory_make - a directory for sockets that no other user can enter
 *
 * Return:  0, and the directory; 1, and a substitute for one that belongs to another user or is
 *          open to others, which ERR names; -errno.
 */
int control_directory_make(char ret_path[static sizeof(((struct sockaddr_un *)0)->sun_path)],
			   struct err *err);

/**
 * control_directory_is_private - whether a directory is UID's and open to UID alone
 *
 * Context: any thread.
 */
bool control_directory_is_private(const char *path, uid_t uid);

/**
 * control_ask - have the recording of a process do something
 *
 * Return:  0 and its reply, whose strings end; -ESRCH: no wick records it; -ENOTUNIQ: several do;
 *          -EPROTO, -ETIMEDOUT and others, and the reason.
 */
int control_ask(const struct control_request *request, struct control_reply *ret_reply,
		struct err *err);

/**
 * control_ask_rows - the same for CONTROL_TOTALS and CONTROL_TOTALS_RESET
 * @rows: gets the rows, JSON lines from a process that may be another user's
 *
 * Return:  as control_ask(); -EPROTO: no rows came; -EFBIG: more than ROWS holds.
 */
int control_ask_rows(const struct control_request *request, struct buf *rows, struct err *err);

/**
 * control_ask_all - how each recording of the caller's is going
 * @tell_one: gets each one's reply, whose strings end
 *
 * Return:  how many there are; -errno when none answered, and the reason.
 */
int control_ask_all(void (*tell_one)(void *context, struct control_reply *reply), void *context,
		    struct err *err);

/**
 * control_recorder - the wick that records a process
 *
 * Return:  the pid of its wick record; 0: none that replies.
 */
pid_t control_recorder(pid_t pid);

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
	uint64_t barrier;     /* CLIENT_WAITING: its answer is due at this barrier */
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
 */
int control_server_open(struct control_server *server, struct err *err);

/**
 * control_server_take - the next request of those that have come; never waits
 *
 * It drops clients of users other than this one and root, and clients whose message is too short,
 * too long, or later than a second.
 *
 * Return:  the client, now CLIENT_WAITING; NULL: nothing has come.
 * Owns:    the server, until control_server_answer().
 */
struct control_client *control_server_take(struct control_server *server, uint64_t now_ns);

/**
 * control_server_next - a client that waits for a barrier up to BARRIER
 *
 * Return:  the client; NULL: there is none.
 */
struct control_client *control_server_next(struct control_server *server, uint64_t barrier);

/** control_server_hold - keep an answer back */
void control_server_hold(struct control_client *client, const struct control_reply *reply);

/**
 * control_server_held - a client whose answer is kept back
 *
 * Return:  the client; NULL: there is none.
 */
struct control_client *control_server_held(struct control_server *server);

/** control_server_is_busy - whether anybody waits for anything */
bool control_server_is_busy(const struct control_server *server);

/** control_server_answer - reply to a client, and close it */
void control_server_answer(struct control_client *client, struct control_reply *reply);

/** control_server_answer_rows - the same, with rows; CONTROL_FAILED if there is no memory for them
 */
void control_server_answer_rows(struct control_client *client, struct control_reply *reply,
				const struct buf *rows);

/** control_server_close - close all clients, and remove the socket */
void control_server_close(struct control_server *server);

/* control_rows: rows in memory that two processes share */

/**
 * control_rows_share - a descriptor of rows that nobody can change any more
 *
 * Return:  the descriptor, the caller's; -errno.
 * Context: any thread.
 */
int control_rows_share(const struct buf *rows);

/**
 * control_rows_read - what such a descriptor of another process holds
 *
 * Return:  0; -EPROTO: it is no sealed memory; -EFBIG: it is more than ROWS may hold; -errno.
 * Context: any thread.
 */
int control_rows_read(int fd, struct buf *rows);

/**
 * control_rows_send - a message, and a descriptor with it
 * @fd: -1: none
 *
 * Return:  0; -errno.
 */
int control_rows_send(int to, const void *message, size_t len, int fd);

/**
 * control_rows_receive - a message, and the descriptor that has come with it
 * @ret_fd: -1: none; the caller's
 *
 * Return:  bytes, as recv(2); -errno.
 */
ssize_t control_rows_receive(int from, void *message, size_t len, int *ret_fd);

#endif
