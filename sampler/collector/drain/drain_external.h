/*
 * drain_external.h - the processes that are sampled externally: which they are, and when
 *
 * Context: collector thread, unless a function says otherwise.
 */
#ifndef DRAIN_DRAIN_EXTERNAL_H
#define DRAIN_DRAIN_EXTERNAL_H

#include "sampler/collector/drain/state.h"
#include "sampler/program/program.h"

/**
 * drain_external_start - sample a process from outside from now on
 * @path: of its program, for people; @kind: why it cannot load the agent
 *
 * Return:  0; -EPERM: it may not be read; -ENOTSUP: there is no external sampler; -errno.  It is
 *          then counted as not sampled, if its program cannot load the agent.
 */
int drain_external_start(struct collector *collector, pid_t pid, const char *path,
			 enum program_kind kind);

/**
 * drain_external_follow - an attached process has executed another program
 * @path: of it, for people
 *
 * Return:  0: it is sampled externally; -errno: it is among those that are not sampled.
 */
int drain_external_follow(struct collector *collector, const struct process *process,
			  const char *path);

/** drain_external_expect - a process is about to become a program that cannot load the agent */
void drain_external_expect(struct collector *collector, pid_t pid, const char *path,
			   enum program_kind kind);

/**
 * drain_external_attach - collector_attach_external()
 * @followed: a child of an attached process: the recording does not wait for its end
 *
 * Return:  as collector_attach_external(); -ENOTSUP: there is no external sampler.
 * Context: main thread.
 */
int drain_external_attach(struct collector *collector, pid_t pid, bool followed, struct err *err);

/**
 * drain_external_turns - sample all of them, when it is due
 *
 * Return:  when the next one is; UINT64_MAX: there are none.
 */
uint64_t drain_external_turns(struct collector *collector);

/**
 * exec_watch_check - see, when it is due, what those without hooks have done
 *
 * The agent of one that runs another image went with the old one.  The new one is sampled from
 * outside where that may be, and is detached where not; either way the summary names it.  One that
 * has no handler for our signal any more gives no samples, which the summary says as well.
 */
void exec_watch_check(struct collector *collector, uint64_t now_ns);

#endif
