/* handshake.h - the messages of agent and collector on the unix socket */
#ifndef WIRE_HANDSHAKE_H
#define WIRE_HANDSHAKE_H

#include <stdint.h>

/*
 * One SOCK_SEQPACKET connection carries one message: the agent sends a struct handshake_request.
 * For HANDSHAKE_START and HANDSHAKE_FORK the collector answers with a struct handshake_reply and,
 * if it accepts, one descriptor (SCM_RIGHTS): the memfd of ring.h. HANDSHAKE_UNSUPPORTED has no
 * answer. The collector takes the sender's identity from SO_PEERCRED only.
 */
#define WIRE_MAGIC   0x6b636977U /* "wick" */
#define WIRE_VERSION 7

/* The environment variable that holds the socket's path. */
#define WIRE_ENV_SOCKET "WICK_SOCKET"

enum { WIRE_PATH_BYTES = 256 };

enum handshake_kind {
	HANDSHAKE_START = 1, /* sent by the agent's constructor in a new process image */
	HANDSHAKE_FORK = 2,  /* sent by a child after fork */
	HANDSHAKE_UNSUPPORTED =
		3, /* this pid is about to execute a program that cannot take the agent */
	HANDSHAKE_EVENTS_ON =
		4, /* engine perf: the agent has installed its handler; events may start */
	HANDSHAKE_EVENTS_OFF =
		5, /* the handler is about to be removed (exec): events must end before the reply */
	HANDSHAKE_LEAVING = 6, /* the memory is about to go (exit, exec): its tables are read before
				  the reply */
};

struct handshake_request {
	uint32_t magic;
	uint16_t version;
	uint16_t kind; /* enum handshake_kind */
	int32_t pid;   /* as the sender sees itself; HANDSHAKE_UNSUPPORTED: the pid that executes */
	int32_t why;   /* HANDSHAKE_UNSUPPORTED: enum program_kind. HANDSHAKE_FORK in a process that
			  wick attached to: the sampling signal */
	uint64_t cpu_ns; /* CLOCK_PROCESS_CPUTIME_ID now: CPU time used before sampling can begin */
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
	       "the request has no padding");
_Static_assert(sizeof(struct handshake_reply) == 8, "the reply has no padding");

#endif
