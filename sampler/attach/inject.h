/* inject.h - loads the agent into a running process, or restarts the one that is already loaded */
#ifndef ATTACH_INJECT_H
#define ATTACH_INJECT_H

#include "sampler/attach/tracee.h"

/* Addresses in the process, found while it runs. */
struct inject_place {
	uint64_t enter;          /* address of a syscall instruction */
	uint64_t dlopen;         /* of libc's dlopen() */
	uint64_t dlerror;        /* 0: it has none */
	uint64_t errno_location; /* of the function */
	uint64_t attach;         /* attach function of an agent that is loaded; 0: there is none */
};

struct inject {
	pid_t pid;
	pid_t tid;    /* the injection thread, */
	bool runs;    /* which is running now, so its stack is checked when it is stopped, */
	int cpu;      /* and the processor on which it last ran; -1: unknown */
	int pidfd;    /* of the process */
	int mem_fd;   /* its memory, opened before PLACE was found: after exec it reads nothing */
	int image_fd; /* the agent; not used when place.attach is set, */
	uint64_t image_attach_offset; /* and the offset of its attach function from its load address
				       */
	int ring_fd;                  /* its rings, as the collector made them */
	char *socket;                 /* the socket to which its children after fork report */
	bool ignores_trap; /* it ignores SIGTRAP, which a trap under ptrace resets to the default */
	struct inject_place place;
	/* Whether the stopped thread can be used; the reason if not. */
	bool (*fits)(void *context, const struct tracee *tracee, struct err *err);
	void *context;
};

/**
 * inject_run - stop one thread, load or restart the agent on it, and let the thread continue
 * @ret_stopped_ns: how long the thread was stopped; set on failure too
 *
 * If a tracer ends in the middle, the thread continues with injected registers and the program
 * crashes. So a child process is the tracer: it has a session of its own and blocks all signals
 * that it can. Ctrl-C, Ctrl-Z, the end of the terminal, or a SIGKILL of wick do not keep it from
 * restoring the thread. What inject->fits() writes is lost with the child. If fork fails, the
 * calling thread is the tracer.
 *
 * Return:  0; -EAGAIN: not this thread, or not now; -ESRCH: it has ended; -EPERM; -EBUSY: its agent
 *          serves another recording; -ECHILD: the child was killed; other -errno. The reason is in
 *          ERR.
 * Context: any thread.
 */
int inject_run(const struct inject *inject, uint64_t *ret_stopped_ns, struct err *err);

#endif
