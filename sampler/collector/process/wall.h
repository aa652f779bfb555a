/*
 * wall.h - wall mode: what every thread of a process does with its time, running or blocked
 *
 * No thread is signalled or stopped for it: everything is read from /proc.  Running threads use
 * the stacks of CPU samples.  Threads that do not run are read less and less often.
 *
 * Context: collector thread, unless a function says otherwise.
 */
#ifndef PROCESS_WALL_H
#define PROCESS_WALL_H

#include "sampler/collector/event/event.h"

#include <stdbool.h>
#include <stdint.h>

struct process;
struct wall;

/* One turn of all processes. */
struct wall_turn {
	struct event_order *sink;
	uint64_t tick;        /* their number since the recording began */
	uint64_t deadline_ns; /* threads that are not read until then wait for the next turn */
	uint32_t most_ticks;  /* the longest interval of an idle thread */
};

/**
 * wall_new - begin with the threads that a process has now
 *
 * Return:  0; -ENOMEM; -errno: its threads cannot be listed.
 * Owns:    the caller; wall_free().
 */
int wall_new(struct wall **ret_wall, struct process *process, const struct wall_turn *turn);

/** wall_free - forget them; NULL is fine */
void wall_free(struct wall *wall);

/**
 * wall_add_sample - add a CPU sample, whose stack a wall sample will use
 * @node: its tid is ours, or 0 when it is not known
 *
 * Owns:    the wall has the node.
 */
void wall_add_sample(struct wall *wall, struct event *node);

/**
 * wall_changed - code was mapped or unmapped
 *
 * Context: collector thread.  NULL is fine.
 */
void wall_changed(struct wall *wall);

/**
 * wall_restart - make the last samples of all threads, and begin with them again
 *
 * Context: collector thread.  NULL is fine.
 */
void wall_restart(struct wall *wall, struct process *process, struct event_order *sink);

/** wall_pass - read the threads that are due */
void wall_pass(struct wall *wall, struct process *process, const struct wall_turn *turn);

/**
 * wall_gone - a thread has ended: make its last samples
 *
 * Context: collector thread.  NULL is fine.
 */
void wall_gone(struct wall *wall, struct process *process, struct event_order *sink, uint32_t tid);

/**
 * wall_end - the image or the recording has ended: make the last samples of all threads
 *
 * Context: collector thread.  NULL is fine.
 */
void wall_end(struct wall *wall, struct process *process, struct event_order *sink);

#endif
