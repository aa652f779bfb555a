/* external_state.h - what the drain thread keeps of the processes that are sampled from outside */
#ifndef DRAIN_EXTERNAL_STATE_H
#define DRAIN_EXTERNAL_STATE_H

#include "sampler/collector/process/process.h"
#include "sampler/program/program.h"
#include "sampler/wire/handshake.h"

#include <stdint.h>
#include <sys/types.h>

enum {
	OUTSIDE_EXPECTED = 64, /* processes that are about to become external ones, at once */
};

/* A process that is about to become a program that takes no agent. */
struct external_expected {
	pid_t pid; /* 0: none */
	enum program_kind kind;
	struct external_image before; /* what it ran when it said so: perhaps the new one already */
	struct external_image after;  /* zero: not known */
	uint64_t until_ns;
	char path[WIRE_PATH_BYTES];
};

struct external_state {
	uint32_t n;       /* processes that were sampled so in the last turn, and new ones */
	uint64_t next_ns; /* when the next turn is due, */
	uint64_t list_ns; /* and the next look at their children */
	uint64_t random;
	uint32_t n_expected; /* ever */
	struct external_expected expected[OUTSIDE_EXPECTED];
};

#endif
