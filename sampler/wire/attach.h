/* attach.h - what the collector hands to the agent that it has injected into a running process */
#ifndef WIRE_ATTACH_H
#define WIRE_ATTACH_H

#include "sampler/wire/handshake.h"

#include <stdint.h>

/*
 * The agent has an ELF note that gives the address of its attach function. The collector finds it
 * from outside, whether a loader preloaded the agent or wick injected it later. The collector calls
 * that function on a thread that it has stopped, with a struct attach_request in memory that is
 * valid during the call.
 *
 * The function returns 0 or -errno. It closes every descriptor that it was handed, also when it
 * fails.
 */
#define ATTACH_NOTE       0x6a
#define ATTACH_NOTE_OWNER "wick"

struct attach_note {
	uint32_t version; /* WIRE_VERSION of that agent */
	uint32_t pad;
	int64_t enter;  /* address of the function minus the address of this word */
	int64_t signal; /* the same for a word that holds the number of the sampling signal; 0
			   before it is installed */
};

struct attach_request {
	uint32_t magic; /* WIRE_MAGIC */
	uint16_t version;
	uint16_t pad;
	int32_t ring_fd;              /* descriptor of the ring file in that process */
	int32_t other_fds[3];         /* other descriptors to close; -1: none */
	char socket[WIRE_PATH_BYTES]; /* the socket to which children after fork report; "": they
					 cannot */
};

_Static_assert(sizeof(struct attach_note) == 24, "the note is packed by its order");
_Static_assert(sizeof(struct attach_request) == 24 + WIRE_PATH_BYTES, "docs/wire.md");

#endif
