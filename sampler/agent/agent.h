/*
 * agent.h - what the agent's files share: its paths, and the steps around exec and seccomp
 *
 * Context: agent (any thread; does nothing unless agent_is_self()), unless a function says
 * otherwise.
 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include "sampler/handler/sys/sys.h"
#include "sampler/wire/handshake.h"
#include "sampler/wire/ring.h"

#include <stdbool.h>
#include <stdint.h>

/* Only the interposed names leave the agent; everything else is hidden by a flag. */
#define AGENT_EXPORT __attribute__((visibility("default")))

/*
 * Set once by the constructor, before any thread that could be sampled, and kept by fork.
 * What changes while the program runs is struct process (handler/process.h), which fork wipes.
 */
struct agent {
	char socket[WIRE_PATH_BYTES]; /* value of WICK_SOCKET; "": wick is absent, do nothing */
	char file[WIRE_PATH_BYTES];   /* path of the agent, in the socket's directory */
	/* The agent's entry in LD_PRELOAD: its path, followed by ":" and that of the hooks object
	 * if this image was started with both. */
	char preload[WIRE_PATH_BYTES];
};

extern struct agent agent;

/**
 * agent_present - whether wick requested this program to be sampled
 *
 * True in fork and vfork children too, and when the collector refused: exec still passes the
 * agent on.
 *
 * Context: agent.  Any thread; also between vfork and exec.
 */
bool agent_present(void);

/**
 * agent_is_self - whether this is the process that the agent samples
 *
 * False in a child that shares memory with its parent (vfork, CLONE_VM: the pid differs), in a
 * child of a raw fork (the state was wiped), and when the agent does not sample. Then no state may
 * be touched.
 *
 * Context: agent.  Any thread; also between vfork and exec.
 */
bool agent_is_self(void);

/**
 * agent_set_paths - set the collector's socket and the paths of the files beside it
 *
 * Return:  false when there is no such path, or it is too long: then wick is absent.
 * Context: agent.  The constructor or agent_attach().
 */
bool agent_set_paths(const char *socket);

/**
 * agent_interposes - whether the program's calls go through the agent's hooks
 *
 * False when wick injected the agent into a running process.
 *
 * Context: agent.  Any thread.
 */
bool agent_interposes(void);

/**
 * agent_next - the function that the program would have called without the agent
 *
 * A hook keeps the result in a static _Atomic pointer of its own.
 *
 * Return:  dlsym(RTLD_NEXT, NAME), or NULL.
 * Context: agent.  Any thread.
 */
void *agent_next(const char *name);

/**
 * agent_set_errno - set errno for a hook that fails
 *
 * Return:  -1, for the hook to return.
 * Context: agent.  Any thread.
 */
int agent_set_errno(int number);

/** agent_before_exec - the image is about to be replaced: note the CPU it used */
void agent_before_exec(void);

/** agent_exec_failed - undo agent_before_exec(): the image stays */
void agent_exec_failed(void);

/**
 * agent_quiesce - seccomp is about to be enabled: stop all system calls of the handler
 *
 * Returns when no handler that could still make one is running, or after 100 ms.
 */
void agent_quiesce(void);

/**
 * agent_stop - stop sampling this process and delete its timers
 * @state: what the collector reads as the reason (AGENT_SECCOMP, AGENT_STOPPED)
 */
void agent_stop(enum agent_state state);

/**
 * handshake_events - tell the collector of a step of this process, and wait until it has done its
 * part
 * @kind:       HANDSHAKE_EVENTS_ON, HANDSHAKE_EVENTS_OFF or HANDSHAKE_LEAVING
 * @timeout_ms: how long to wait for the reply; 0: do not wait
 *
 * Return:  0 when it has; -ECONNREFUSED: the collector has ended, and its events with it; -errno.
 * Context: agent.  Any thread (1 KiB of stack).
 */
int handshake_events(enum handshake_kind kind, int timeout_ms);

/**
 * agent_leave - the memory of this process is about to go: have its exact counts read
 *
 * Waits at most 200 ms, and only if the collector has said that there are any.
 *
 * Context: agent.  Any thread (1 KiB of stack).
 */
void agent_leave(void);

/* Written in events.c. */

/**
 * events_begin - allow perf events to replace timers: handler and slot are ready
 *
 * Context: agent.  The constructor, or a thread that begins.
 */
void events_begin(void);

/**
 * events_end - stop the perf events of this process, before its handler is removed
 *
 * Does nothing unless agent_is_self() and the engine is perf.
 *
 * Context: agent.  Any thread; before what takes our handler away.
 */
void events_end(void);

/**
 * events_go_on - allow perf events again: the handler stays
 *
 * Context: agent.  Any thread, after events_end().
 */
void events_go_on(void);

/**
 * handshake_unsupported - report that PID is about to execute a program without the agent
 * @why: enum program_kind
 *
 * Does not wait; errors are ignored.
 *
 * Context: agent.  Any thread; also between vfork and exec (1 KiB of stack).
 */
void handshake_unsupported(int32_t pid, int32_t why, const char *path);

/* Written in environment.c. */

/**
 * environment_hide - remove WICK_SOCKET and the agent's LD_PRELOAD entry from ENVP, in place
 *
 * Called once, by the constructor, after struct agent was filled in.
 *
 * Context: agent.  The constructor.
 */
void environment_hide(char **envp);

/* Written in signal_hooks.c. */

/**
 * signals_start - begin to emulate the program's SIGPROF action: our handler is installed
 * @inherited: the action before (SIG_DFL or SIG_IGN after exec)
 * @blocked: SIGPROF was blocked in this thread and has been unblocked
 *
 * From now on the program sees its own SIGPROF action and mask. The constructor calls it; a child
 * after fork does not (actions and masks are inherited).
 *
 * Context: agent.  The constructor.
 */
void signals_start(const struct sys_sigaction *inherited, bool blocked);

#endif
