/*
 * syscall_hook.h - the system calls by number that the agent has to handle
 *
 * Context: agent (any thread; also between vfork and exec), unless a function says otherwise.
 */
#ifndef AGENT_SYSCALL_HOOK_H
#define AGENT_SYSCALL_HOOK_H

#include <stdbool.h>

/**
 * exec_by_syscall - syscall(SYS_execve)
 *
 * Return:  -1 and errno: the exec failed.
 */
int exec_by_syscall(const char *path, char *const *argv, char *const *envp);

/**
 * seccomp_before - prctl(PR_SET_SECCOMP) is about to be called
 * @mode:   SECCOMP_MODE_*
 * @filter: a struct sock_fprog, or NULL
 *
 * Context: agent.  Any thread.
 */
void seccomp_before(unsigned long mode, const void *filter);

/** seccomp_entered - whether this process, or an ancestor by fork, has set a filter */
bool seccomp_entered(void);

/**
 * seccomp_before_syscall - seccomp(2) is about to be called
 *
 * Context: agent.  Any thread.
 */
void seccomp_before_syscall(unsigned long operation, const void *filter);

/** syscall_next - libc's syscall(), or a raw call without libc */
long syscall_next(long nr, long a, long b, long c, long d, long e, long f);

/** syscall_chosen - handle the numbers that syscall_hook_x86_64.S does not pass on by itself */
long syscall_chosen(long nr, long a, long b, long c, long d, long e, long f);

#endif
