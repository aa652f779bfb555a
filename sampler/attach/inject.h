/* inject.h - brings the agent into a running process, or wakes the one that is there */
#ifndef ATTACH_INJECT_H
#define ATTACH_INJECT_H

#include "sampler/attach/tracee.h"

/* Addresses in the process, found while it runs. */
struct inject_place {
	uint64_t enter;          /* an instruction that enters the kernel */
	uint64_t dlopen;         /* libc's; and with flags of its own where it is not for all */
	uint64_t dlerror;        /* 0: it has none */
	uint64_t errno_location; /* of the function */
	uint64_t attach;         /* of the agent that is in it; 0: there is none */
};

struct inject {
	pid_t pid;
	pid_t tid;    /* of the thread to borrow, */
	bool runs;    /* which runs now, and is walked when it stands, */
	int cpu;      /* and the processor that it ran on last; -1: not known */
	int pidfd;    /* of the process */
	int mem_fd;   /* its memory, opened before PLACE was found: after exec it reads nothing */
	int image_fd; /* the agent; not used when place.attach is set, */
	uint64_t image_attach_offset; /* and where its join is, from where it is loaded */
	int ring_fd;                  /* its rings, as the collector made them */
	char *socket;                 /* where its fork children say hello */
	bool ignores_trap;            /* it ignores SIGTRAP, which holding it undoes */
	struct inject_place place;
	/* Whether the thread, now that it is stopped, may be borrowed; its reason if not. */
	bool (*fits)(void *context, const struct tracee *tracee, struct err *err);
	void *context;
};

/**
 * inject_run - stop one thread, load the agent or wake it, and let the thread go on
 * @ret_stopped_ns: for how long the thread was held; set on failure too
 *
 * Return:  0; -EAGAIN: not this thread, or not now; -ESRCH: it has ended; -EPERM; -EBUSY: the
 *          agent in it serves another recording; other -errno.  The reason is in ERR.
 * Context: any thread, which becomes the tracer for the length of the call.
 */
int inject_run(const struct inject *inject, uint64_t *ret_stopped_ns, struct err *err);

#endif
