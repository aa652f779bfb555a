/* environment.h - the environment without the agent, and with it again for an exec */
#ifndef AGENT_ENVIRONMENT_H
#define AGENT_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

/* The program's own variable; NULL before libc has set it, or where there is none. */
extern char **environ __attribute__((weak));

/**
 * environment_current - the environ that the program sees now
 *
 * Return:  environ, or an empty environment.
 * Context: agent.  Any thread; also between vfork and exec.
 */
char **environment_current(void);

/**
 * environment_get - the value of a variable
 * @name: without the '='
 *
 * Return:  the value, or NULL.
 * Owns:    whoever owns ENVP.
 * Context: agent.  Any thread; also between vfork and exec.
 */
const char *environment_get(char *const *envp, const char *name);

/**
 * environment_bytes - the memory that environment_build() needs
 *
 * Context: agent.  Any thread; also between vfork and exec.
 */
size_t environment_bytes(char *const *envp, const char *asan);

/**
 * environment_build - ENVP with the agent put back
 * @asan:  soname that has to be loaded before the agent; "": none
 * @block: environment_bytes() of memory, aligned for a pointer
 *
 * Return:  the environment.
 * Owns:    the array and our two entries stand in BLOCK, the others are ENVP's.
 * Context: agent.  Any thread; also between vfork and exec.
 */
char **environment_build(char *const *envp, const char *asan, void *block);

#endif
