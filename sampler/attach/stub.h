/* stub.h - what a borrowed thread is sent to do: code of ours (errand_x86_64.S) and its orders */
#ifndef ATTACH_STUB_H
#define ATTACH_STUB_H

#include "sampler/attach/stub_x86_64.h"
#include "sampler/wire/attach.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum { ERRAND_FDS = 2 /* the rings, and the agent */ };

struct errand {
	uint64_t errno_location; /* functions of its libc; 0: it has none */
	uint64_t dlopen;
	uint64_t dlerror;
	uint64_t join;         /* of the agent that is there; 0: it is loaded first, */
	uint64_t join_offset;  /* and joined so far from where it was loaded */
	uint64_t passed_bytes; /* the message that descriptors come in, if all of them come */
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
		int32_t fds[ERRAND_FDS];
	} passed;
	char path[32]; /* to the agent's descriptor, its number to be filled in */
	char name[24]; /* what the agent is called afterwards */
	uint64_t ignores_trap;
	uint64_t trap_action[4]; /* as the kernel has it; the handler comes first */
	struct join order;
	struct iovec part;
	char byte[8];
};

_Static_assert(offsetof(struct errand, errno_location) == ERRAND_ERRNO_LOCATION &&
		       offsetof(struct errand, dlopen) == ERRAND_DLOPEN &&
		       offsetof(struct errand, dlerror) == ERRAND_DLERROR &&
		       offsetof(struct errand, join) == ERRAND_JOIN &&
		       offsetof(struct errand, join_offset) == ERRAND_JOIN_OFFSET &&
		       offsetof(struct errand, passed_bytes) == ERRAND_PASSED_BYTES &&
		       offsetof(struct errand, pair.fds) == ERRAND_PAIR &&
		       offsetof(struct errand, pair.made) == ERRAND_PAIR_MADE &&
		       offsetof(struct errand, message) == ERRAND_MESSAGE &&
		       offsetof(struct errand, passed) == ERRAND_PASSED &&
		       offsetof(struct errand, path) == ERRAND_PATH &&
		       offsetof(struct errand, name) == ERRAND_NAME &&
		       offsetof(struct errand, ignores_trap) == ERRAND_IGNORES_TRAP &&
		       offsetof(struct errand, trap_action) == ERRAND_TRAP_ACTION &&
		       offsetof(struct errand, order.ring_fd) == ERRAND_RING_FD &&
		       offsetof(struct errand, order.other_fds) == ERRAND_OTHER_FDS,
	       "errand_x86_64.S goes by these");
_Static_assert(CMSG_LEN(0) == 16 && CMSG_SPACE(ERRAND_FDS * sizeof(int32_t)) == 24,
	       "how descriptors come");

/* The code, which runs wherever it is copied to, and how far it is when it has done everything. */
extern const unsigned char errand_code[];
extern const uint64_t errand_bytes;
extern const uint64_t errand_done;

#endif
