/*
 * injection_thread.h - finds libc's functions and a loaded agent in a process, and chooses the
 * thread on which the agent is injected
 *
 * Context: any thread, unless a function says otherwise.
 */
#ifndef ATTACH_INJECTION_THREAD_H
#define ATTACH_INJECTION_THREAD_H

#include "base/err.h"
#include "sampler/attach/inject.h"
#include "sampler/attach/tracee.h"
#include "sampler/remote/blocked.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A loaded file, and where in it a thread must not be interrupted. */
struct attach_module {
	uint64_t start;
	uint64_t end;
	bool loader; /* ld.so or the agent: never interrupt a thread in it */
	bool examined;
	uint64_t critical[64][2]; /* code of its allocator, loader and threads: [start, end) */
	size_t n_critical;
};

struct attach_modules {
	pid_t pid;
	int signal;               /* sampling signal of a loaded agent; 0: none */
	struct attach_module *at; /* by address */
	size_t n;
	size_t size;
	size_t n_examined;
};

/**
 * attach_is_critical - whether a thread with this pc on its stack may hold a lock of libc's
 *
 * That is code of an allocator, of a loader, or code that creates and ends threads and processes.
 */
bool attach_is_critical(struct attach_modules *modules, uint64_t pc);

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
 */
int injection_thread_choose(struct injection_thread *thread, bool hard, struct err *err);

/**
 * injection_thread_fits - whether the thread can be used where it has stopped
 * @thread: struct injection_thread
 *
 * Context: any thread, the tracer.
 */
bool injection_thread_fits(void *thread, const struct tracee *tracee, struct err *err);

/**
 * attach_place_find - read the process's maps, and find functions in its libc
 *
 * Return:  0; -ENOEXEC: no libc that could load the agent (a static program); -EPROTO: it has the
 *          agent of another version of wick; -errno. The reason is in ERR.
 * Owns:    the caller: attach_modules_release().
 */
int attach_place_find(pid_t pid, struct inject_place *ret_place, struct attach_modules *ret_modules,
		      struct err *err);

/** attach_modules_release - free the list of modules */
void attach_modules_release(struct attach_modules *modules);

#endif
