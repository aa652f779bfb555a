/* attach.h - how a running process is joined: what is handed to the agent that was put into it */
#ifndef WIRE_ATTACH_H
#define WIRE_ATTACH_H

#include "sampler/wire/handshake.h"

#include <stdint.h>

/*
 * The agent says by an ELF note where it is joined, so that it is found from outside whether a
 * loader brought it in at the start, or wick later.  The collector calls that function on a thread
 * that it holds, with a struct attach_request in memory that lives as long as the call.
 *
 * The function returns 0 or -errno.  It closes every descriptor that it was handed, whatever it
 * returns.
 */
#define ATTACH_NOTE       0x6a
#define ATTACH_NOTE_OWNER "wick"

struct attach_note {
	uint32_t version; /* WIRE_VERSION of that agent */
	uint32_t pad;
	int64_t enter;  /* the function's address minus that of this word */
	int64_t signal; /* the same of a word with the number of its signal, 0 until it has one */
};

struct attach_request {
	uint32_t magic; /* WIRE_MAGIC */
	uint16_t version;
	uint16_t pad;
	int32_t ring_fd;              /* the ring file, as its number in that process */
	int32_t other_fds[3];         /* what else came that way; -1: none */
	char socket[WIRE_PATH_BYTES]; /* where fork children say hello; "" when they cannot */
};

_Static_assert(sizeof(struct attach_note) == 24, "the note is packed by its order");
_Static_assert(sizeof(struct attach_request) == 24 + WIRE_PATH_BYTES, "docs/wire.md");

#endif
