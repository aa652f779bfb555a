/* children.h - whom a process has started, as the kernel lists them */
#ifndef PROCFS_CHILDREN_H
#define PROCFS_CHILDREN_H

#include <sys/types.h>

/**
 * children_each - call VISIT with every child of every thread of a process
 *
 * Zombies are among them; none are where the kernel has no such lists, or there is no process.
 *
 * Context: any thread.
 */
void children_each(pid_t pid, void (*visit)(void *context, pid_t child), void *context);

#endif
