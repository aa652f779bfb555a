/* stub.h - the code that the injection thread runs (stub_x86_64.S), and its data */
#ifndef ATTACH_STUB_H
#define ATTACH_STUB_H

#include "sampler/attach/stub_x86_64.h"
#include "sampler/wire/attach.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum { STUB_FDS = 2 /* the rings, and the agent */ };

struct stub {
	uint64_t errno_location; /* addresses of functions in its libc; 0: it has none */
	uint64_t dlopen;
	uint64_t dlerror;
	uint64_t attach; /* attach function of the loaded agent; 0: the stub loads the agent, */
	uint64_t attach_offset; /* whose attach function is at this offset from its load address */
	uint64_t passed_bytes; /* expected size of the control message, if all descriptors arrive */
	struct {
		int32_t fds[2];
		uint32_t made; /* 1: the sockets exist */
		uint32_t pad;
	} pair;                /* a pair of sockets */
	struct msghdr message; /* uses the following */
	struct {
		uint64_t bytes; /* a struct cmsghdr, followed by the descriptors */
		int32_t level;
		int32_t type;
		int32_t fds[STUB_FDS];
	} passed;
	char path[32]; /* path of the agent's descriptor, whose number the stub adds */
	char name[24]; /* name of the agent after loading */
	uint64_t ignores_trap;
	uint64_t trap_action[4]; /* as rt_sigaction(2) takes it; the handler comes first */
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

/* The position-independent code, its size, and the offset at which it has finished. */
extern const unsigned char stub_code[];
extern const uint64_t stub_bytes;
extern const uint64_t stub_done;

#endif
