/* handshake.h - what an agent and the collector say to each other on the unix socket */
#ifndef WIRE_HANDSHAKE_H
#define WIRE_HANDSHAKE_H

#include <stdint.h>

/*
 * One SOCK_SEQPACKET connection a message: the agent sends a struct handshake_request; for
 * HANDSHAKE_START and HANDSHAKE_FORK the collector answers with a struct handshake_reply and, when
 * it accepts, one descriptor (SCM_RIGHTS): the memfd of ring.h.  HANDSHAKE_UNSUPPORTED has no
 * answer. The collector believes only SO_PEERCRED about who is talking.
 */
#define WIRE_MAGIC   0x6b636977U /* "wick" */
#define WIRE_VERSION 5

/* How the agent finds wick: the socket's path, in the environment of the process. */
#define WIRE_ENV_SOCKET "WICK_SOCKET"

enum { WIRE_PATH_BYTES = 256 };

enum handshake_kind {
	HANDSHAKE_START = 1,       /* the agent's constructor: a new image */
	HANDSHAKE_FORK = 2,        /* a fork child goes on in its parent's image */
	HANDSHAKE_UNSUPPORTED = 3, /* this pid is about to become a program that takes no agent */
	HANDSHAKE_EVENTS_ON = 4,   /* engine perf: the handler stands, so events may come */
	HANDSHAKE_EVENTS_OFF =
		5, /* and is about to go (exec): they have to end before the answer */
};

struct handshake_request {
	uint32_t magic;
	uint16_t version;
	uint16_t kind; /* enum handshake_kind */
	int32_t pid; /* as the sender sees itself; for HANDSHAKE_UNSUPPORTED the pid it speaks of */
	int32_t why; /* HANDSHAKE_UNSUPPORTED: enum program_kind.  HANDSHAKE_FORK of a process that
			was joined: its signal, for which the child has a handler too */
	uint64_t cpu_ns; /* CLOCK_PROCESS_CPUTIME_ID now: what ran before the first sample could */
	char path[WIRE_PATH_BYTES]; /* HANDSHAKE_UNSUPPORTED: the program, NUL-terminated */
};

enum handshake_status {
	HANDSHAKE_ACCEPTED = 1,
	HANDSHAKE_REFUSED = 2,
};

struct handshake_reply {
	uint32_t magic;
	uint16_t version;
	uint16_t status; /* enum handshake_status */
};

_Static_assert(sizeof(struct handshake_request) == 24 + WIRE_PATH_BYTES,
	       "hello is packed by its order");
_Static_assert(sizeof(struct handshake_reply) == 8, "welcome is packed by its order");

#endif
