/*
 * launch.h - decides, for every exec and spawn, whether the new program gets the agent
 *
 * Context: agent (any thread; also between vfork and exec), unless a function says otherwise.
 */
#ifndef AGENT_LAUNCH_H
#define AGENT_LAUNCH_H

#include "sampler/program/program.h"

#include <stdbool.h>
#include <stddef.h>

/**
 * launch_wanted - whether execs and spawns have to be examined
 *
 * False without wick, and under a seccomp filter, which may forbid what wick does before the exec
 * or what the agent does after it.
 */
bool launch_wanted(void);

struct launch {
	const char *path; /* the file to examine; NULL: not found, the call will fail */
	char *const *envp;
	/* Makes the real call with this environment. */
	int (*run)(void *call, char *const *envp);
	void *call;
	bool in_child; /* a new process will run it (posix_spawn); this one continues */
};

struct launched {
	enum program_kind kind;
	bool with_agent;
	bool unfit; /* the program cannot take the agent, for the reason KIND */
};

/**
 * launch_run - make the call, with the agent added to the environment if the program can take it
 *
 * Leaves errno as the call set it. Reports a program that cannot take the agent to the collector,
 * unless it runs in a child, whose pid only the caller will know.
 *
 * Return:  what the call returned.
 */
int launch_run(const struct launch *launch, struct launched *ret_launched);

/**
 * launch_exec - the same for an exec: this image ends if it succeeds
 *
 * Return:  what the call returned; it has failed, and everything is as it was before.
 */
int launch_exec(const struct launch *launch);

/**
 * launch_fits - whether an exec of PATH would get the agent
 *
 * Context: agent.  Any thread.
 */
bool launch_fits(const char *path, char *const *envp);

/** launch_search_bytes - the memory that launch_search() needs */
size_t launch_search_bytes(const char *file);

/**
 * launch_search - where execvp() will find FILE
 * @buffer: launch_search_bytes() long
 *
 * Return:  FILE itself if it has a slash, the first executable file in PATH, or NULL.
 * Owns:    the caller: FILE or BUFFER.
 */
const char *launch_search(const char *file, char *buffer);

#endif
