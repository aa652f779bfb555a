/*
 * stop_wait.h - looking around for what another thread does, as long as it has a processor of its
 * own
 *
 * A thread on another processor is done in microseconds, and to sleep meanwhile costs tens of them.
 * One that has been put on ours waits until we sleep: where it is shows after a moment.
 */
#ifndef ATTACH_STOP_WAIT_H
#define ATTACH_STOP_WAIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct stop_wait {
	int stat_fd; /* the thread's; -1: it is not looked for, but slept for at once */
	uint64_t begun_ns;
	uint64_t checked_ns; /* when it was last asked where the thread is */
};

/**
 * stop_wait_open - a thread that will be looked for
 *
 * Owns:    the caller; stop_wait_close().
 * Context: any thread.
 */
void stop_wait_open(struct stop_wait *ret_wait, pid_t pid, pid_t tid);

/**
 * stop_wait_close - it is slept for from now on
 *
 * Context: any thread.
 */
void stop_wait_close(struct stop_wait *wait);

/**
 * stop_wait_begin - it has just been let go
 *
 * Context: any thread.
 */
void stop_wait_begin(struct stop_wait *wait);

/**
 * stop_wait_continues - whether it is worth while to look once more
 *
 * Closes LOOK when the thread stands on our own processor.
 *
 * Context: any thread.
 */
bool stop_wait_continues(struct stop_wait *wait);

#endif
