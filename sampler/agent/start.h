/* start.h - how sampling starts in a process image, and again in a child after fork */
#ifndef AGENT_START_H
#define AGENT_START_H

#include "sampler/handler/process.h"
#include "sampler/wire/handshake.h"

#include <stdbool.h>
#include <stdint.h>

/**
 * handshake_rings - get a ring file from the collector
 * @timeout_ms: longest delay of the program
 *
 * Return:  a descriptor that the caller closes, or -errno: wick has ended, refuses or is slow.
 * Context: agent.  The constructor or a fork child.
 */
int handshake_rings(enum handshake_kind kind, int timeout_ms);

/**
 * rings_map - map the ring file and initialize the process's state; no timer runs yet
 *
 * Return:  0 or -errno; then the process is not sampled.
 * Context: agent.  The constructor, a fork child or agent_attach().
 */
int rings_map(struct process *p, int fd);

/**
 * rings_replace - map a new ring file over the rings of an earlier recording
 *
 * A handler of the earlier recording that is still running writes to valid memory.
 *
 * Return:  0 or -errno; then the process is not sampled.
 * Context: agent.  agent_attach(), when no timer of ours runs.
 */
int rings_replace(struct process *p, int fd);

/**
 * process_map - allocate the process's state, which fork wipes
 *
 * Return:  NULL on failure.
 * Context: agent.  Once.
 */
struct process *process_map(void);

/**
 * timers_start - arm the calling thread's timer and, if it is to discover threads, the process
 * timer
 *
 * Context: agent.  The constructor or a fork child.
 */
void timers_start(struct process *p);

/**
 * modules_note_program - note where the main program's segments begin and end
 *
 * Reads the auxiliary vector; makes no call to the loader.
 *
 * Context: agent.  Whenever rings have been mapped.
 */
void modules_note_program(struct process *p);

/**
 * modules_start - note the modules loaded now, which the collector reads from /proc
 *
 * Context: agent.  The constructor, a fork child, or after dlclose.
 */
void modules_start(struct process *p);

/**
 * modules_start_without_loader - modules_start(), without calling the loader if it has
 * _dl_find_object
 *
 * The handler then announces modules when it first sees them. In a child after fork
 * dl_iterate_phdr() could wait forever for a glibc lock that another thread of the parent held;
 * musl's fork resets its lock. During an attach a thread is stopped meanwhile.
 *
 * Context: agent.  A fork child, or agent_attach().
 */
void modules_start_without_loader(struct process *p);

/**
 * modules_snapshot - take the list of modules again, where libc has no _dl_find_object
 *
 * Context: agent.  One caller at a time.
 */
void modules_snapshot(struct process *p);

/**
 * modules_note_ranges - note the readable ranges of modules, for when system calls are forbidden
 *
 * Context: agent.  Before AGENT_NO_SYSCALLS.
 */
void modules_note_ranges(struct process *p);

/**
 * fork_start - register start_in_child() to run in children of fork()
 *
 * Context: agent.  The constructor.
 */
void fork_start(void);

/**
 * start_in_child - connect to the collector again and continue sampling in the child
 *
 * Context: agent.  A fork child, before fork() returns.
 */
void start_in_child(void);

/**
 * threads_arm_self - give the calling thread a timer, and its share of the process's residual CPU
 *
 * Context: agent.  A thread that has just begun; DISCOVERY_HOOKS.
 */
void threads_arm_self(struct process *p);

/**
 * threads_forget_starts - forget threads that were being created by other threads
 *
 * Context: agent.  A fork child, which has one thread.
 */
void threads_forget_starts(void);

/**
 * threads_end_self - return the calling thread's residual CPU and delete its timer
 *
 * Context: agent.  A thread that is about to end; DISCOVERY_HOOKS.
 */
void threads_end_self(void);

#endif
