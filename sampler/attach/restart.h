/* restart.h - restarts system calls that a ptrace stop would end with EINTR */
#ifndef ATTACH_RESTART_H
#define ATTACH_RESTART_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/user.h>

/**
 * restart_call - have the call that a stop interrupted restarted when the thread continues
 * @regs: registers of a stopped thread; rax is changed
 *
 * The kernel restarts most calls itself. Those that fail with EINTR for any interruption, without
 * having done anything (signal(7)), would reveal the stop. A signal with a handler still causes
 * EINTR: the kernel decides that when the thread leaves the stop.
 *
 * Return:  whether there was such a call.
 * Context: any thread.
 */
bool restart_call(struct user_regs_struct *regs);

/**
 * restart_stopped - read the registers of a stopped thread, and have its call restarted
 *
 * Return:  0; -errno of ptrace.
 * Context: any thread, the tracer.
 */
int restart_stopped(pid_t tid, struct user_regs_struct *ret_regs);

#endif
