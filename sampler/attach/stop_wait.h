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

struct look {
	int stat_fd; /* the thread's; -1: it is not looked for, but slept for at once */
	uint64_t begun_ns;
	uint64_t asked_ns; /* when it was last asked where the thread is */
};

/**
 * look_open - a thread that will be looked for
 *
 * Owns:    the caller; look_close().
 * Context: any thread.
 */
void look_open(struct look *ret_look, pid_t pid, pid_t tid);

/**
 * look_close - it is slept for from now on
 *
 * Context: any thread.
 */
void look_close(struct look *look);

/**
 * look_begin - it has just been let go
 *
 * Context: any thread.
 */
void look_begin(struct look *look);

/**
 * look_goes_on - whether it is worth while to look once more
 *
 * Closes LOOK when the thread stands on our own processor.
 *
 * Context: any thread.
 */
bool look_goes_on(struct look *look);

#endif
