/*
 * follow.h - attach to children of attached processes, which have no agent
 *
 * By fork alone a child has the agent already.  One that has executed a program since, or was made
 * by vfork, posix_spawn, system or popen, is found in the kernel's lists.  A child that still runs
 * its parent's image is left alone: after a vfork it has its parent's memory.
 *
 * Context: collector thread, unless a function says otherwise.
 */
#ifndef DRAIN_FOLLOW_H
#define DRAIN_FOLLOW_H

#include "base/map.h"
#include "sampler/collector/process/process.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct drain;

enum {
	FOLLOW_MS = 50, /* between two scans for children of attached processes */
};

struct collector;

/* The main thread's.  Zero is the beginning. */
struct follow {
	struct map children; /* of struct follow_child, by pid: not recorded at the last scan */
	uint64_t scan;       /* number of scans */
	uint64_t next_ns;    /* when the next one is due */
};

/* What a scan does with a child. */
struct follow_ops {
	int (*attach)(void *context, pid_t pid); /* 0; -errno, as collector_attach() */
	void *context;
};

/**
 * follow_scan - when it is due, attach to children that ran the same image at the previous scan
 *
 * After a temporary error (-EAGAIN, -EBUSY) it tries again later, otherwise once an image.
 *
 * Context: main thread.
 */
void follow_scan(struct follow *follow, struct collector *collector, const struct follow_ops *ops,
		 uint64_t now_ns);

/**
 * follow_release - forget all children
 *
 * Context: main thread.
 */
void follow_release(struct follow *follow);

/*
 * The kernel adds up, in each process, the CPU of children that have ended and were waited for, and
 * of their children. The part that was recorded is known; the rest was not sampled.
 */
enum { CHILD_CPU_DETACHED = 64 };

/* A child that has executed another program, and is attached to again. */
struct child_cpu_detached {
	pid_t pid;
	uint64_t used_ns; /* up to then */
};

/* All of them. */
struct child_cpu_totals {
	bool left_out;      /* children do not count */
	uint64_t began_ns;  /* the recording, since the machine was started */
	uint64_t ended_ns;  /* CPU of children that have ended, */
	uint64_t seen_ns;   /* and of it what those that were recorded used; */
	uint64_t missed_ns; /* their CPU before wick attached */
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
 * child_cpu_attached - wick attached: find the process's parent, and where its children's CPU
 * starts to count
 * @followed: it did as a child
 */
void child_cpu_attached(struct drain *drain, struct process *process, bool followed);

/** child_cpu_read - what the children of an attached process have used by now */
void child_cpu_read(struct process *process);

/** child_cpu_forget - attaching failed */
void child_cpu_forget(struct drain *drain, const struct process *process);

/** child_cpu_outlives - the recording ends, and the process goes on */
void child_cpu_outlives(struct drain *drain, struct process *process);

/** child_cpu_end - the recording of a process ends, but not that of its pid's next image */
void child_cpu_end(struct drain *drain, struct process *process);

#endif
