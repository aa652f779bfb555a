/* control_wire.h - what `wick stop -p PID` and a recording say to each other */
#ifndef CONTROL_CONTROL_WIRE_H
#define CONTROL_CONTROL_WIRE_H

#include <stdint.h>

/*
 * One SOCK_SEQPACKET connection a request: a struct control_request, then a struct control_reply.
 * Both are checked by who gets them: a socket's peer may be anybody's program.
 */
#define CONTROL_MAGIC 0x6b636977U /* "wick" */

enum {
	CONTROL_VERSION = 3,
	CONTROL_COMMAND_BYTES = 64,
	CONTROL_PATH_BYTES = 1024,
	CONTROL_TEXT_BYTES = 512,
};

enum control_verb {
	CONTROL_START = 1,
	CONTROL_STOP,
	CONTROL_STATUS,
	CONTROL_RATE,
	CONTROL_FLUSH,
	CONTROL_SPLIT,
	CONTROL_VERBS, /* one past the last */
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
	int32_t pid;           /* of CMD, or of the first process that was joined */
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
	uint64_t lowered_ns; /* for how long the rate was lower than asked for */
	uint64_t files;      /* ever begun */
	uint64_t bytes;
	char command[CONTROL_COMMAND_BYTES];
	char path[CONTROL_PATH_BYTES]; /* that is being written, or was written for the request */
	char text[CONTROL_TEXT_BYTES]; /* one line: CONTROL_FAILED: why; else of the rate, or "" */
};

_Static_assert(sizeof(struct control_request) == 16, "no gaps");

#endif
