/* injection_thread.h - which thread of a process is borrowed to bring the agent in, and when */
#ifndef ATTACH_INJECTION_THREAD_H
#define ATTACH_INJECTION_THREAD_H

#include "base/err.h"
#include "sampler/attach/attach_place.h"
#include "sampler/attach/tracee.h"
#include "sampler/remote/blocked.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * A thread that is blocked is best: nobody misses it, and where it is was seen before it is
 * stopped.  Its callers tell whether it may hold a lock that loading the agent needs.
 */
struct injection_thread {
	pid_t pid;
	pid_t tid;
	int cpu;      /* that it ran on last */
	bool blocked; /* at AT; else it runs, and is looked at when it has stopped */
	struct blocked_at at;
	struct attach_modules *modules;
	struct remote *remote;
};

/**
 * injection_thread_choose - the thread that is best borrowed now
 * @hard: take one that would be noticed a little, too (it waits with a time-out that begins anew)
 * @thread: its pid, modules and remote are set; the rest is answered
 *
 * Return:  0; -EAGAIN: none now, and why in ERR; -ESRCH: the process has ended; -errno.
 * Context: any thread.
 */
int injection_thread_choose(struct injection_thread *thread, bool hard, struct err *err);

/**
 * injection_thread_fits - whether it may be borrowed where it has stopped
 * @thread: struct injection_thread
 *
 * Context: any thread, the tracer.
 */
bool injection_thread_fits(void *thread, const struct tracee *tracee, struct err *err);

#endif
