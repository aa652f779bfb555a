/*
 * environment.h - removes the agent from the environment, and adds it again for an exec
 *
 * Context: agent. Any thread; also between vfork and exec.
 */
#ifndef AGENT_ENVIRONMENT_H
#define AGENT_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

/* libc's variable; NULL before libc has set it, or without libc. */
extern char **environ __attribute__((weak));

/**
 * environment_current - the environ that the program sees now
 *
 * Return:  environ, or an empty environment.
 */
char **environment_current(void);

/**
 * environment_get - the value of a variable
 * @name: without the '='
 *
 * Return:  the value, or NULL.
 * Owns:    the owner of ENVP.
 */
const char *environment_get(char *const *envp, const char *name);

/** environment_bytes - the memory that environment_build() needs */
size_t environment_bytes(char *const *envp, const char *asan);

/**
 * environment_build - a copy of ENVP with the agent added
 * @asan: soname to load before the agent; "": none
 * @block: environment_bytes() of memory, aligned for a pointer
 *
 * Return:  the environment.
 * Owns:    the array and the agent's two entries are in BLOCK, the others are ENVP's.
 */
char **environment_build(char *const *envp, const char *asan, void *block);

#endif
