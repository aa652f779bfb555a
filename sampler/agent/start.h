/* start.h - how sampling begins in an image, and again in a fork child */
#ifndef AGENT_START_H
#define AGENT_START_H

#include "sampler/handler/process.h"
#include "sampler/wire/handshake.h"

#include <stdbool.h>
#include <stdint.h>

/**
 * handshake_rings - ask the collector for a ring file
 * @timeout_ms: how long the host may be held up
 *
 * Return:  a descriptor that the caller closes, or -errno: wick is gone, refuses or is slow.
 * Context: agent.  The constructor or a fork child.
 */
int handshake_rings(enum handshake_kind kind, int timeout_ms);

/**
 * rings_map - map the ring file and fill in the process's state; no timer runs yet
 *
 * Return:  0 or -errno; then the process is not sampled.
 * Context: agent.  The constructor, a fork child or agent_attach().
 */
int rings_map(struct process *p, int fd);

/**
 * rings_replace - the same where there are rings of an earlier recording: at their addresses
 *
 * A handler that was held up for all that time writes to memory that is there.
 *
 * Return:  0 or -errno; then the process is not sampled.
 * Context: agent.  agent_attach(), when no timer of ours runs.
 */
int rings_replace(struct process *p, int fd);

/**
 * process_map - memory for the process's state, which fork wipes
 *
 * Return:  NULL when there is none.
 * Context: agent.  Once.
 */
struct process *process_map(void);

/**
 * timers_start - arm the calling thread, and the process timer where it finds threads
 *
 * Context: agent.  The constructor or a fork child.
 */
void timers_start(struct process *p);

/**
 * modules_note_program - note where the main program's segments begin and end
 *
 * From the auxiliary vector: the loader is not asked.
 *
 * Context: agent.  Whenever rings have been mapped.
 */
void modules_note_program(struct process *p);

/**
 * modules_start - note what is loaded now: the collector reads that from /proc
 *
 * Context: agent.  The constructor, a fork child, or after dlclose.
 */
void modules_start(struct process *p);

/**
 * modules_start_without_loader - the same without asking the loader, where it has _dl_find_object
 *
 * The handler announces what it meets then.  In a fork child dl_iterate_phdr() would wait for ever
 * for a lock of glibc's that another thread of the parent held; musl's fork takes care of its
 * lock.  In a join a thread stands meanwhile.
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
 * modules_note_ranges - which bytes of the modules can be read, for when nothing can be asked
 *
 * Context: agent.  Before AGENT_NO_SYSCALLS.
 */
void modules_note_ranges(struct process *p);

/**
 * fork_start - have the child side of fork() call start_in_child()
 *
 * Context: agent.  The constructor.
 */
void fork_start(void);

/**
 * start_in_child - a fork child says its own hello and goes on being sampled
 *
 * Context: agent.  A fork child, before fork() returns.
 */
void start_in_child(void);

/**
 * threads_arm_self - give the calling thread a timer, and the account's debt
 *
 * Context: agent.  A thread that has just begun; DISCOVERY_HOOKS.
 */
void threads_arm_self(struct process *p);

/**
 * threads_forget_starts - forget starts that were under way in other threads
 *
 * Context: agent.  A fork child, which has one thread.
 */
void threads_forget_starts(void);

/**
 * threads_end_self - settle the calling thread's account and delete its timer
 *
 * Context: agent.  A thread that is about to end; DISCOVERY_HOOKS.
 */
void threads_end_self(void);

#endif
