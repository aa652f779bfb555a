/*
 * stop_wait.h - polls for a short time until another thread stops, as long as it has a processor of
 * its own
 *
 * A thread on another processor stops within microseconds; sleeping meanwhile costs tens of them. A
 * thread on the same processor cannot run until the caller sleeps, so polling ends then.
 */
#ifndef ATTACH_STOP_WAIT_H
#define ATTACH_STOP_WAIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct stop_wait {
	int stat_fd; /* stat file of the thread; -1: do not poll */
	uint64_t begun_ns;
	uint64_t checked_ns; /* when the thread's processor was last read */
};

/**
 * stop_wait_open - prepare to poll a thread
 *
 * Owns:    the caller; stop_wait_close().
 * Context: any thread.
 */
void stop_wait_open(struct stop_wait *ret_wait, pid_t pid, pid_t tid);

/**
 * stop_wait_close - poll no more: sleep from now on
 *
 * Context: any thread.
 */
void stop_wait_close(struct stop_wait *wait);

/**
 * stop_wait_begin - the thread has just been started: begin to poll
 *
 * Context: any thread.
 */
void stop_wait_begin(struct stop_wait *wait);

/**
 * stop_wait_continues - whether to poll once more
 *
 * Closes WAIT when the thread is on the caller's processor.
 *
 * Context: any thread.
 */
bool stop_wait_continues(struct stop_wait *wait);

#endif
