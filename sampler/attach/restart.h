/* restart.h - system calls that a tracer's stop ends with EINTR, and that are gone into again */
#ifndef ATTACH_RESTART_H
#define ATTACH_RESTART_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/user.h>

/**
 * restart_call - have a call that the stop has ended gone into again when the thread goes on
 * @regs: of a thread that is stopped; rax is changed
 *
 * The kernel restarts most calls itself.  Those that fail with EINTR whatever interrupts them, and
 * have done nothing by then (signal(7)), would show that there was a stop.  A signal with a handler
 * still makes it EINTR: that is decided when the thread leaves the stop.
 *
 * Return:  whether there was one.
 * Context: any thread.
 */
bool restart_call(struct user_regs_struct *regs);

/**
 * restart_stopped - read the registers of a thread that is stopped, and have its call restarted
 *
 * Return:  0; -errno of ptrace.
 * Context: any thread, the tracer.
 */
int restart_stopped(pid_t tid, struct user_regs_struct *ret_regs);

#endif
