/*
 * proc.h - small facts of a process that the kernel tells, and its children
 *
 * Context: any thread.
 */
#ifndef PROCFS_PROC_H
#define PROCFS_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * proc_cpu_ns - CPU time of all threads of a process
 *
 * Return:  ns, also of a zombie; 0 when there is no such process.
 */
uint64_t proc_cpu_ns(pid_t pid);

/** proc_clock_offset - a process's CLOCK_MONOTONIC minus ours (time namespaces) */
int64_t proc_clock_offset(pid_t pid);

/**
 * proc_parent - the parent of a process
 *
 * Return:  its pid; 0 when it is unknown.
 */
pid_t proc_parent(pid_t pid);

/**
 * proc_thread_start - when a thread of a process started
 *
 * Return:  ticks since boot; 0 when the process has no such thread.
 */
uint64_t proc_thread_start(pid_t pid, uint32_t tid);

/**
 * proc_stack_start - where the stack of a process's image begins: another one after each exec
 *
 * Return:  the address; 0 when it may not be read.
 */
uint64_t proc_stack_start(pid_t pid);

/** proc_thread_gone - whether a thread of a process has ended */
bool proc_thread_gone(pid_t pid, uint32_t tid);

/**
 * proc_memory_copy - bytes of a process
 * @mem_fd: /proc/PID/mem
 *
 * It never waits, not even for a userfaultfd handler.
 *
 * Return:  whether all LEN of them could be read.
 */
bool proc_memory_copy(int mem_fd, uint64_t address, void *to, size_t len);

/** proc_memory_read - the same as a callback; CONTEXT is the address of MEM_FD */
bool proc_memory_read(void *context, uint64_t address, void *to, size_t len);

/**
 * proc_pidfd - a descriptor that is readable once the process has ended
 *
 * Return:  the descriptor (close-on-exec); -errno.
 */
int proc_pidfd(pid_t pid);

/**
 * children_each - call VISIT with every child of every thread of a process
 *
 * Zombies are among them; none are where the kernel has no such lists, or there is no process.
 */
void children_each(pid_t pid, void (*visit)(void *context, pid_t child), void *context);

#endif
