/* injection_thread.h - chooses the thread of a process on which the agent is injected */
#ifndef ATTACH_INJECTION_THREAD_H
#define ATTACH_INJECTION_THREAD_H

#include "base/err.h"
#include "sampler/attach/attach_place.h"
#include "sampler/attach/tracee.h"
#include "sampler/remote/blocked.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * A blocked thread is best: the program does not notice, and its stack can be checked before it is
 * stopped. Its callers tell whether it may hold a lock that loading the agent needs.
 */
struct injection_thread {
	pid_t pid;
	pid_t tid;
	int cpu;      /* processor on which it last ran */
	bool blocked; /* at AT; otherwise it is running, and is checked when it has stopped */
	struct blocked_at at;
	struct attach_modules *modules;
	struct remote *remote;
};

/**
 * injection_thread_choose - choose the most suitable thread now
 * @hard: accept a thread that would be disturbed a little (its timeout would start again)
 * @thread: pid, modules and remote are set; the rest is the result
 *
 * Return:  0; -EAGAIN: none now, the reason is in ERR; -ESRCH: the process has ended; -errno.
 * Context: any thread.
 */
int injection_thread_choose(struct injection_thread *thread, bool hard, struct err *err);

/**
 * injection_thread_fits - whether the thread can be used where it has stopped
 * @thread: struct injection_thread
 *
 * Context: any thread, the tracer.
 */
bool injection_thread_fits(void *thread, const struct tracee *tracee, struct err *err);

#endif
