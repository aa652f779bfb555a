/* stub.h - what a borrowed thread is sent to do: code of ours (stub_x86_64.S) and its orders */
#ifndef ATTACH_STUB_H
#define ATTACH_STUB_H

#include "sampler/attach/stub_x86_64.h"
#include "sampler/wire/attach.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum { STUB_FDS = 2 /* the rings, and the agent */ };

struct stub {
	uint64_t errno_location; /* functions of its libc; 0: it has none */
	uint64_t dlopen;
	uint64_t dlerror;
	uint64_t attach;        /* of the agent that is there; 0: it is loaded first, */
	uint64_t attach_offset; /* and joined so far from where it was loaded */
	uint64_t passed_bytes;  /* the message that descriptors come in, if all of them come */
	struct {
		int32_t fds[2];
		uint32_t made; /* 1: they are there */
		uint32_t pad;
	} pair;                /* of sockets */
	struct msghdr message; /* leads to: */
	struct {
		uint64_t bytes; /* a struct cmsghdr, and what follows it */
		int32_t level;
		int32_t type;
		int32_t fds[STUB_FDS];
	} passed;
	char path[32]; /* to the agent's descriptor, its number to be filled in */
	char name[24]; /* what the agent is called afterwards */
	uint64_t ignores_trap;
	uint64_t trap_action[4]; /* as the kernel has it; the handler comes first */
	struct attach_request request;
	struct iovec part;
	char byte[8];
};

_Static_assert(offsetof(struct stub, errno_location) == STUB_ERRNO_LOCATION &&
		       offsetof(struct stub, dlopen) == STUB_DLOPEN &&
		       offsetof(struct stub, dlerror) == STUB_DLERROR &&
		       offsetof(struct stub, attach) == STUB_ATTACH &&
		       offsetof(struct stub, attach_offset) == STUB_ATTACH_OFFSET &&
		       offsetof(struct stub, passed_bytes) == STUB_PASSED_BYTES &&
		       offsetof(struct stub, pair.fds) == STUB_PAIR &&
		       offsetof(struct stub, pair.made) == STUB_PAIR_MADE &&
		       offsetof(struct stub, message) == STUB_MESSAGE &&
		       offsetof(struct stub, passed) == STUB_PASSED &&
		       offsetof(struct stub, path) == STUB_PATH &&
		       offsetof(struct stub, name) == STUB_NAME &&
		       offsetof(struct stub, ignores_trap) == STUB_IGNORES_TRAP &&
		       offsetof(struct stub, trap_action) == STUB_TRAP_ACTION &&
		       offsetof(struct stub, request.ring_fd) == STUB_RING_FD &&
		       offsetof(struct stub, request.other_fds) == STUB_OTHER_FDS,
	       "stub_x86_64.S uses these offsets");
_Static_assert(CMSG_LEN(0) == 16 && CMSG_SPACE(STUB_FDS * sizeof(int32_t)) == 24,
	       "how descriptors come");

/* The code, which runs wherever it is copied to, and how far it is when it has done everything. */
extern const unsigned char stub_code[];
extern const uint64_t stub_bytes;
extern const uint64_t stub_done;

#endif
