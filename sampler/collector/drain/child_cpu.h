/*
 * child_cpu.h - of processes that have joined and their children: what the children used that
 * nobody saw
 *
 * The kernel adds up, in each process, the CPU of children that have ended and were waited for, and
 * of theirs.  What of it recorded children used is known; the rest was not sampled.
 */
#ifndef DRAIN_CHILD_CPU_H
#define DRAIN_CHILD_CPU_H

#include "sampler/collector/process/process.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct drain;

enum { CHILD_CPU_DETACHED = 64 };

/* A child that has executed another program, and joins anew. */
struct child_cpu_detached {
	pid_t pid;
	uint64_t used_ns; /* up to then */
};

/* All of them. */
struct child_cpu_totals {
	bool left_out;      /* nobody wants to know of children */
	uint64_t began_ns;  /* the recording, since the machine was started */
	uint64_t ended_ns;  /* CPU of children that have ended, */
	uint64_t seen_ns;   /* and of it what those that were recorded used; */
	uint64_t missed_ns; /* what they did before they joined */
	struct child_cpu_detached let_go[CHILD_CPU_DETACHED];
	uint32_t n_let_go; /* ever */
};

/**
 * child_cpu_now_ns - the clock that the kernel says a process's start in
 *
 * Context: any thread.
 */
uint64_t child_cpu_now_ns(void);

/**
 * child_cpu_attached - a process has joined: whose child it is, and from where its children count
 * @followed: it did as a child
 *
 * Context: collector thread.
 */
void child_cpu_attached(struct drain *drain, struct process *process, bool followed);

/**
 * child_cpu_read - what children of one that has joined have used by now
 *
 * Context: collector thread.
 */
void child_cpu_read(struct process *process);

/**
 * child_cpu_forget - it did not join after all
 *
 * Context: collector thread.
 */
void child_cpu_forget(struct drain *drain, const struct process *process);

/**
 * child_cpu_outlives - the recording ends, and the process goes on
 *
 * Context: collector thread.
 */
void child_cpu_outlives(struct drain *drain, struct process *process);

/**
 * child_cpu_end - the recording of a process ends, but not that of its pid's next image
 *
 * Context: collector thread.
 */
void child_cpu_end(struct drain *drain, struct process *process);

#endif
