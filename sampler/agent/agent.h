/* agent.h - what the agent's files know of each other; ordinary code inside the target */
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
	char socket[WIRE_PATH_BYTES]; /* as WICK_SOCKET gave it; "": wick is absent, do nothing */
	char file[WIRE_PATH_BYTES];   /* the agent: beside the socket */
	/* Our entry in LD_PRELOAD: the agent beside the socket, with ":" and the hooks object
	 * behind it when this image was started with both. */
	char preload[WIRE_PATH_BYTES];
};

extern struct agent agent;

/**
 * agent_present - whether wick asked for this program to be sampled
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
 * False in a child that shares our memory (vfork, CLONE_VM: the pid differs), in a raw fork
 * (the state was wiped) and when the agent is not sampling.  Then no state may be touched.
 *
 * Context: agent.  Any thread; also between vfork and exec.
 */
bool agent_is_self(void);

/**
 * agent_set_paths - where the collector's socket is, and what stands beside it
 *
 * Return:  false when there is no such path, or it is too long: then wick is absent.
 * Context: agent.  The constructor or agent_attach().
 */
bool agent_set_paths(const char *socket);

/**
 * agent_interposes - whether the program's calls come by our hooks
 *
 * Not when the agent was brought in while the program ran.
 *
 * Context: agent.  Any thread.
 */
bool agent_interposes(void);

/**
 * agent_next - the function that an interposed name would have called without us
 *
 * A hook keeps the answer in a static _Atomic pointer of its own.
 *
 * Return:  dlsym(RTLD_NEXT, NAME), or NULL.
 * Context: agent.  Any thread.
 */
void *agent_next(const char *name);

/**
 * agent_set_errno - what a hook that fails by itself tells its caller
 *
 * Return:  -1, for the hook to return.
 * Context: agent.  Any thread.
 */
int agent_set_errno(int number);

/**
 * agent_before_exec - the image is about to be replaced: note the CPU it used
 *
 * Context: agent.  Any thread; does nothing unless agent_is_self().
 */
void agent_before_exec(void);

/**
 * agent_exec_failed - the image goes on after all
 *
 * Context: agent.  Any thread; does nothing unless agent_is_self().
 */
void agent_exec_failed(void);

/**
 * agent_quiesce - seccomp is about to be set: from now on no handler makes a system call
 *
 * Returns when no handler that could still make one is running, or after 100 ms.
 *
 * Context: agent.  Any thread; does nothing unless agent_is_self().
 */
void agent_quiesce(void);

/**
 * agent_stop - delete this process's timers; it is sampled no more
 * @state: what the collector reads as the reason (AGENT_SECCOMP, AGENT_STOPPED)
 *
 * Context: agent.  Any thread; does nothing unless agent_is_self().
 */
void agent_stop(enum agent_state state);

/**
 * handshake_events - have the collector open perf events for this process, or close them
 * @kind:       HANDSHAKE_EVENTS_ON or HANDSHAKE_EVENTS_OFF
 * @timeout_ms: how long to wait until it has; 0: do not
 *
 * Return:  0 when it has; -ECONNREFUSED: it is gone, and its events with it; -errno.
 * Context: agent.  Any thread (1 KiB of stack).
 */
int handshake_events(enum handshake_kind kind, int timeout_ms);

/* Written in events.c. */

/**
 * events_begin - our handler stands and this thread has a slot: let events take over from timers
 *
 * Context: agent.  The constructor, or a thread that begins.
 */
void events_begin(void);

/**
 * events_end - no signal of an event may be on its way to this thread from here on
 *
 * Does nothing unless agent_is_self() and the engine is perf.
 *
 * Context: agent.  Any thread; before what takes our handler away.
 */
void events_end(void);

/**
 * events_go_on - the handler stays after all
 *
 * Context: agent.  Any thread, after events_end().
 */
void events_go_on(void);

/**
 * handshake_unsupported - tell the collector that PID is about to become a program without an agent
 * @why: enum program_kind
 *
 * Waits for nothing; a collector that is gone is ignored.
 *
 * Context: agent.  Any thread; also between vfork and exec (1 KiB of stack).
 */
void handshake_unsupported(int32_t pid, int32_t why, const char *path);

/* Written in environment.c. */

/**
 * environment_hide - take WICK_SOCKET and our LD_PRELOAD entry out of ENVP, in place
 *
 * Called once, by the constructor, after struct agent was filled in.
 *
 * Context: agent.  The constructor.
 */
void environment_hide(char **envp);

/* Written in signal_hooks.c. */

/**
 * signals_start - our SIGPROF handler has just been installed
 * @inherited: the action that stood before (SIG_DFL or SIG_IGN after exec)
 * @blocked:   SIGPROF was blocked in this thread and has been opened
 *
 * What the program asks of SIGPROF from now on it sees as if we were not there.  Called by the
 * constructor, and never in a fork child (actions and masks are inherited).
 *
 * Context: agent.  The constructor.
 */
void signals_start(const struct sys_sigaction *inherited, bool blocked);

#endif
