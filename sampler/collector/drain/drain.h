/*
 * drain.h - the thread that drains the rings and never waits
 *
 * Context: collector thread, unless a function says otherwise.
 */
#ifndef DRAIN_DRAIN_H
#define DRAIN_DRAIN_H

#include "sampler/collector/drain/state.h"

/**
 * drain_init - prepare; the thread does not run yet
 *
 * Return:  0; -errno.
 * Context: main thread.
 */
int drain_init(struct collector *collector);

/**
 * drain_release - what drain_init() made
 *
 * Context: main thread, when the thread does not run.
 */
void drain_release(struct collector *collector);

/**
 * drain_main - the thread
 *
 * Runs until CMD has ended or collector->detach is set; EVENT_KIND_END is its last word.
 */
void *drain_main(void *collector);

/**
 * drain_watch_fd - wake up when a descriptor can be read
 *
 * Return:  0; -errno.
 * Context: collector thread, or main thread before it runs.
 */
int drain_watch_fd(struct drain *drain, int fd, enum source source, uint32_t id);

/**
 * drain_records - whether a process is recorded now
 *
 * Context: any thread.
 */
bool drain_records(struct collector *collector, pid_t pid);

/**
 * drain_start - a new image; an older one of the same pid has ended
 * @namespace_pid: what it calls itself: another pid in a pid namespace
 *
 * Its mappings have been read when this returns.
 *
 * Return:  0; -errno.
 * Owns:    the drain thread.
 */
int drain_start(struct collector *collector, pid_t pid, pid_t namespace_pid,
		struct process **ret_process);

/** drain_detach - record a process no more */
void drain_detach(struct collector *collector, struct process *process);

/** drain_forget - attaching to a process failed */
void drain_forget(struct collector *collector, struct process *process);

/** drain_unsupported - a pid is about to become a program that cannot load the agent */
void drain_unsupported(struct collector *collector, pid_t pid);

/** drain_charged_ns - CPU that the kernel charged to what is sampled, ended or not */
uint64_t drain_charged_ns(const struct drain *drain);

#endif
